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
	"strings"
	"time"
)

// named is a value with its name, in a query, a header or a form.
type named struct {
	name, value string
	raw         bool // sent as it stands, not percent-encoded
}

// request is a request on its way to being spoilt: valid to begin with, and in
// parts, so that one of them can be replaced.
type request struct {
	name   string // of the operation or the page, for the report
	method string
	path   []string // its segments, as they are sent
	params []int    // which of them are parameters
	query  []named
	header []named
	form   []named // a body as pages and OAuth send it; nil: none
	json   any     // a body as programs send it; nil: none
	body   string  // a body that is neither
	as     *caller
	pool   []string // for the last parameter: each can be used up once
	rare   bool     // costs the service much, such as hashing a password

	secured bool   // needs a token or a session
	scope   string // that the token must have
	moved   bool   // it is no longer sure whom and what the request is for
	odd     bool   // net/http itself may refuse it
	cut     bool   // ends sooner than it says
}

// copy leaves the valid request as it is.
func (r *request) copy() *request {
	c := *r
	c.path = append([]string(nil), r.path...)
	c.query = append([]named(nil), r.query...)
	c.header = append([]named(nil), r.header...)
	if r.form != nil {
		c.form = append([]named{}, r.form...)
	}
	return &c
}

// set gives a header, in the place of one of that name.
func (r *request) set(name, value string) {
	for i := range r.header {
		if strings.EqualFold(r.header[i].name, name) {
			r.header[i].value = value
			return
		}
	}
	r.header = append(r.header, named{name: name, value: value})
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

func encodePairs(pairs []named) string {
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

// bytes are what goes over the line. net/http would refuse to send some of it.
func (r *request) bytes(host string) ([]byte, error) {
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
	if r.get("Content-Length") == "" && r.get("Transfer-Encoding") == "" && (body != "" || r.method == "POST" || r.method == "PUT" || r.method == "PATCH") {
		r.set("Content-Length", fmt.Sprint(len(body)))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\n", r.method, r.target())
	for _, h := range r.header {
		fmt.Fprintf(&out, "%s: %s\r\n", h.name, h.value)
	}
	out.WriteString("\r\n")
	// A little less than what the service reads of a head.
	if _, err := url.ParseRequestURI(r.target()); err != nil || out.Len() > 30<<10 || strings.ContainsAny(r.target(), " \t\r\n\x00\x7f") {
		r.odd = true
	}
	out.WriteString(body)
	return out.Bytes(), nil
}

// line is a connection to the service that is kept while it is good.
type line struct {
	address string
	conn    net.Conn
	read    *bufio.Reader
}

func (l *line) close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// send sends a request and reads the answer. On a line that was kept, the other
// side may have hung up meanwhile: then it dials again.
func (l *line) send(r *request, raw []byte) answer {
	kept := l.conn != nil
	a := l.try(r, raw)
	if kept && errors.Is(a.err, errHungUp) {
		a = l.try(r, raw)
	}
	if r.odd || r.cut || a.err != nil {
		l.close() // what follows such a request on its line is not sure
	}
	return a
}

var errHungUp = errors.New("no answer")

func (l *line) try(r *request, raw []byte) answer {
	if l.conn == nil {
		conn, err := net.Dial("tcp", l.address)
		if err != nil {
			return answer{err: err}
		}
		l.conn, l.read = conn, bufio.NewReader(conn)
	}
	l.conn.SetDeadline(time.Now().Add(patience))
	// An answer may come before all was sent, so sending does not hold up
	// reading; the connection is closed where the rest is not wanted.
	sent := make(chan error, 1)
	go func(conn net.Conn) {
		_, err := conn.Write(raw)
		if r.cut && err == nil {
			err = conn.(*net.TCPConn).CloseWrite()
		}
		sent <- err
	}(l.conn)
	a, keep := l.answer(r.method)
	if !keep {
		l.close()
	}
	if err := <-sent; err != nil && a.err != nil && !errors.Is(a.err, errHungUp) {
		a.err = fmt.Errorf("%w; sending: %w", a.err, err)
	}
	return a
}

func (l *line) answer(method string) (a answer, keep bool) {
	for {
		res, err := http.ReadResponse(l.read, &http.Request{Method: method})
		if err != nil {
			return answer{err: fmt.Errorf("%w: %w", errHungUp, err)}, false
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode < 200 && err == nil {
			continue // go on, it says
		}
		return answer{status: res.StatusCode, header: res.Header, text: string(text), err: err}, err == nil && !res.Close
	}
}
