package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// param is a name and value of a query, a header or a form.
type param struct {
	name, value string
	raw         bool // sent as is, without percent-encoding
}

// request is a valid request in parts, of which the generator replaces one or two.
type request struct {
	name   string // operation or route, for the report
	method string
	path   []string // segments, as sent
	params []int    // indexes of the segments that are parameters
	query  []param
	header []param
	form   []param // form body; nil: none
	json   any     // JSON body; nil: none
	body   string  // any other body
	as     *caller
	pool   []string // values for the last parameter that each work once
	rare   bool     // sent rarely because it costs the service much, such as hashing a password

	secured         bool   // needs a token or a session
	scope           string // required scope
	skipAccessCheck bool   // mutated so that the expected access is unknown
	malformed       bool   // net/http itself may reject it
	truncated       bool   // shorter than it announces
}

// copy returns a copy whose slices can be changed.
func (r *request) copy() *request {
	c := *r
	c.path = append([]string(nil), r.path...)
	c.query = append([]param(nil), r.query...)
	c.header = append([]param(nil), r.header...)
	if r.form != nil {
		c.form = append([]param{}, r.form...)
	}
	return &c
}

// set sets a header, replacing one of the same name.
func (r *request) set(name, value string) {
	for i := range r.header {
		if strings.EqualFold(r.header[i].name, name) {
			r.header[i].value = value
			return
		}
	}
	r.header = append(r.header, param{name: name, value: value})
}

func (r *request) get(name string) string {
	for _, h := range r.header {
		if strings.EqualFold(h.name, name) {
			return h.value
		}
	}
	return ""
}

func (r *request) target() string {
	target := strings.Join(r.path, "/")
	if len(r.query) > 0 {
		target += "?" + encodePairs(r.query)
	}
	return target
}

func encodePairs(pairs []param) string {
	var parts []string
	for _, p := range pairs {
		if p.raw {
			parts = append(parts, p.name+p.value)
		} else {
			parts = append(parts, url.QueryEscape(p.name)+"="+url.QueryEscape(p.value))
		}
	}
	return strings.Join(parts, "&")
}

// encode returns the request as bytes, because net/http would refuse to send some of
// them.
func (r *request) encode(host string) ([]byte, error) {
	body := r.body
	if body == "" && r.form != nil {
		body = encodePairs(r.form)
	}
	if body == "" && r.json != nil {
		text, err := json.Marshal(r.json)
		if err != nil {
			return nil, err
		}
		body = string(text)
	}
	if r.get("Host") == "" {
		r.set("Host", host)
	}
	hasLength := r.get("Content-Length") != "" || r.get("Transfer-Encoding") != ""
	hasBody := body != "" || slices.Contains([]string{"POST", "PUT", "PATCH"}, r.method)
	if hasBody && !hasLength {
		r.set("Content-Length", fmt.Sprint(len(body)))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\n", r.method, r.target())
	for _, h := range r.header {
		fmt.Fprintf(&out, "%s: %s\r\n", h.name, h.value)
	}
	out.WriteString("\r\n")
	// The service reads at most 32 KB of a request head.
	if _, err := url.ParseRequestURI(r.target()); err != nil || out.Len() > 30<<10 || strings.ContainsAny(r.target(), " \t\r\n\x00\x7f") {
		r.malformed = true
	}
	out.WriteString(body)
	return out.Bytes(), nil
}

// rawConn is a connection to the service that is reused until an error.
type rawConn struct {
	address string
	conn    net.Conn
	read    *bufio.Reader
}

func (l *rawConn) close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// send sends a request and reads the response. If the server has closed a reused
// connection, it dials once more.
func (l *rawConn) send(r *request, raw []byte) httpResponse {
	reused := l.conn != nil
	a := l.sendOnce(r, raw)
	if reused && errors.Is(a.err, errNoResponse) {
		a = l.sendOnce(r, raw)
	}
	if r.malformed || r.truncated || a.err != nil {
		l.close() // later requests on this connection could be misread
	}
	return a
}

var errNoResponse = errors.New("no response")

func (l *rawConn) sendOnce(r *request, raw []byte) httpResponse {
	if l.conn == nil {
		conn, err := net.Dial("tcp", l.address)
		if err != nil {
			return httpResponse{err: err}
		}
		l.conn, l.read = conn, bufio.NewReader(conn)
	}
	l.conn.SetDeadline(time.Now().Add(waitTimeout))
	// Write in a goroutine: a response may arrive before the body is sent, and the
	// server may close the connection without reading the rest.
	sent := make(chan error, 1)
	go func(conn net.Conn) {
		_, err := conn.Write(raw)
		if r.truncated && err == nil {
			err = conn.(*net.TCPConn).CloseWrite()
		}
		sent <- err
	}(l.conn)
	a, keep := l.readResponse(r.method)
	if !keep {
		l.close()
	}
	if err := <-sent; err != nil && a.err != nil && !errors.Is(a.err, errNoResponse) {
		a.err = fmt.Errorf("%w; sending: %w", a.err, err)
	}
	return a
}

func (l *rawConn) readResponse(method string) (a httpResponse, keep bool) {
	for {
		res, err := http.ReadResponse(l.read, &http.Request{Method: method})
		if err != nil {
			return httpResponse{err: fmt.Errorf("%w: %w", errNoResponse, err)}, false
		}
		if res.Header.Get("Content-Type") == "text/event-stream" {
			return httpResponse{status: res.StatusCode, header: res.Header}, false // has no end
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode < 200 && err == nil {
			continue // 100 Continue
		}
		return httpResponse{status: res.StatusCode, header: res.Header, text: string(text), err: err}, err == nil && !res.Close
	}
}
