package blobtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Fault is what a proxy does to a connection.
type Fault struct {
	// Refuse closes each connection before a byte is sent.
	Refuse bool
	// Status answers each request with this HTTP status, such as 503, if not 0. It reads
	// no body.
	Status int
	// CutSent and CutReceived close a connection once that many bytes were sent to the
	// server or received from it, if not 0.
	CutSent, CutReceived int64
	// HangSent and HangReceived let a connection hang once that many bytes were sent or
	// received, if not 0.
	HangSent, HangReceived int64
	// Rate is how many bytes per second are sent to the server, if not 0.
	Rate int64
	// Times is how many connections have the fault; 0: all.
	Times int
}

// Proxy forwards connections to a server and disturbs them.
type Proxy struct {
	Address  string
	target   string
	listener net.Listener

	mu          sync.Mutex
	fault       Fault
	connections map[net.Conn]bool // of clients
	count       int
	closed      bool
}

// StartProxy runs a proxy until the test ends.
func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: listener.Addr().String(), target: target, listener: listener, connections: map[net.Conn]bool{}}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		p.closeAll(true)
		wg.Wait()
	})
	return p
}

// Set changes what happens to connections, and closes those that are open.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	p.fault, p.count = f, 0
	p.mu.Unlock()
	p.closeAll(false)
}

// Connections returns how many connections were accepted since Set.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

func (p *Proxy) closeAll(forever bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = forever
	for c := range p.connections {
		c.Close()
	}
}

// add returns false if the proxy has ended.
func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connections[c] = true
	return !p.closed
}

func (p *Proxy) remove(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.connections, c)
}

// next returns the fault of the next connection.
func (p *Proxy) next() Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	if p.fault.Times > 0 && p.count > p.fault.Times {
		return Fault{}
	}
	return p.fault
}

func (p *Proxy) serve(client net.Conn) {
	defer p.remove(client)
	f := p.next()
	if !p.add(client) || f.Refuse {
		return
	}
	if f.Status != 0 {
		answer(client, f.Status)
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { forward(server, throttle(client, f.Rate), f.CutSent, f.HangSent) })
	wg.Go(func() { forward(client, server, f.CutReceived, f.HangReceived) })
	wg.Wait()
}

// forward copies until the end, and closes both connections then. After hang bytes it
// reads on and forwards nothing.
func forward(to, from net.Conn, cut, hang int64) {
	defer to.Close()
	defer from.Close()
	switch {
	case cut > 0:
		io.CopyN(to, from, cut)
	case hang > 0:
		io.CopyN(to, from, hang)
		io.Copy(io.Discard, from)
	default:
		io.Copy(to, from)
	}
}

// slowConn is a connection from which little is read at a time.
type slowConn struct {
	net.Conn
	rate int64
}

func throttle(c net.Conn, rate int64) net.Conn {
	if rate == 0 {
		return c
	}
	return slowConn{c, rate}
}

const slowReads = 50 // per second

func (c slowConn) Read(p []byte) (int, error) {
	time.Sleep(time.Second / slowReads)
	return c.Conn.Read(p[:min(int64(len(p)), c.rate/slowReads)])
}

// answer reads the head of a request and answers with an error.
func answer(client net.Conn, status int) {
	request := bufio.NewReader(client)
	for {
		line, err := request.ReadString('\n')
		if err != nil {
			return
		}
		if line == "\r\n" {
			break
		}
	}
	fmt.Fprintf(client, "HTTP/1.1 %d Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status)
	// Closing with unread bytes would discard the answer.
	client.(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, request)
}
