package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// requestLimit is how long an expensive request may take before it is given up.
const requestLimit = 20 * time.Second

// costWorld is what expensive requests work on: an account that attacks, and a
// stranger with a small open form.
type costWorld struct {
	t     *testing.T
	rand  *rand.Rand
	small bool   // the short version: fewer and smaller requests
	base  string // address of the server, which may change between families

	app     clitest.App
	token   string // of the attacker
	refresh string
	cookie  string // of the attacker's session
	public  string // the stranger's form

	client *http.Client
}

const stranger = "bea@example.com"

// newCostWorld makes the accounts in an empty place.
func newCostWorld(t *testing.T, place storetest.Place) *costWorld {
	t.Helper()
	s := clitest.Start(t, place)
	defer s.Stop()
	s.Command(clitest.Password+"\n", "user", "add", ada, "--language=de", "--password-stdin")
	s.AddUser(stranger)
	w := &costWorld{t: t, app: s.AddApp(ada, "https://app.example.com/cb"), client: clientFrom("127.0.0.1")}
	b := s.Browser()
	b.SignIn(ada)
	token := s.Exchange(w.app, b.Allow(w.app.AuthorizeURL(allScopes)).Query().Get("code"))
	w.token, w.refresh = token.Access, token.Refresh
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range b.Jar.Cookies(base) {
		w.cookie += c.Name + "=" + c.Value + "; "
	}
	w.base = s.URL
	strangers := *w
	strangers.token = s.Token(stranger, w.app, allScopes).Access
	w.public = strangers.open(map[string]any{"title": "Order", "fields": []any{question("note", "long_text")}})
	return w
}

// clientFrom is a client with a loopback address of its own.
func clientFrom(address string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: requestLimit}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 16, DisableCompression: true},
		Timeout:       requestLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// sent is what became of a request.
type sent struct {
	status   int
	bytes    int // sent
	answered int // bytes of the body
	took     time.Duration
	err      error
}

// raw is a request as it goes over the line.
func (w *costWorld) raw(c costly) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\nHost: %s\r\n", c.method, c.path, strings.TrimPrefix(w.base, "http://"))
	for name, value := range w.headers(c) {
		fmt.Fprintf(&out, "%s: %s\r\n", name, value)
	}
	fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n%s", len(c.body), c.body)
	return out.Bytes()
}

func (w *costWorld) headers(c costly) map[string]string {
	all := map[string]string{}
	switch c.as {
	case asToken:
		all["Authorization"] = "Bearer " + w.token
	case asSession:
		all["Cookie"] = strings.TrimSuffix(w.cookie, "; ")
	}
	if c.kind != "" {
		all["Content-Type"] = c.kind
	}
	for name, value := range c.header {
		all[name] = value
	}
	return all
}

// send sends a request and throws the answer away.
func (w *costWorld) send(c costly) sent {
	start := time.Now()
	if c.cut {
		return w.abandon(c)
	}
	r, err := http.NewRequest(c.method, w.base+strings.ReplaceAll(c.path, hereInQuery, url.QueryEscape(w.base)), strings.NewReader(c.body))
	if err != nil {
		w.t.Fatalf("%s: %v", c.name, err)
	}
	out := sent{bytes: len(c.path) + len(c.body)}
	for name, value := range w.headers(c) {
		r.Header.Set(name, value)
		out.bytes += len(name) + len(value)
	}
	res, err := w.client.Do(r)
	if err != nil {
		return sent{bytes: out.bytes, took: time.Since(start), err: err}
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	out.status, out.answered, out.took, out.err = res.StatusCode, int(n), time.Since(start), err
	return out
}

// abandon sends a request and closes the connection without reading.
func (w *costWorld) abandon(c costly) sent {
	raw := w.raw(c)
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.base, "http://"))
	if err != nil {
		return sent{err: err}
	}
	defer conn.Close()
	_, err = conn.Write(raw)
	// Long enough for the server to begin; the answer is not read.
	time.Sleep(20 * time.Millisecond)
	return sent{bytes: len(raw), err: err}
}

// call is for building: the answer must be a success.
func (w *costWorld) call(method, path, body string) map[string]any {
	w.t.Helper()
	out, status := w.try(method, path, body)
	if status >= 300 {
		w.t.Fatalf("%s %s: %d %.600s", method, path, status, fmt.Sprint(out))
	}
	return out
}

// try calls the API with the attacker's token.
func (w *costWorld) try(method, path, body string) (out map[string]any, status int) {
	w.t.Helper()
	r, err := http.NewRequest(method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	json.Unmarshal(text, &out) // there may be none
	return out, res.StatusCode
}

// draft makes a form from a definition and returns its id.
func (w *costWorld) draft(definition map[string]any) string {
	w.t.Helper()
	return w.call("POST", "/api/v1/forms", encoded(w.t, definition))["id"].(string)
}

// open makes a form and publishes it.
func (w *costWorld) open(definition map[string]any) string {
	w.t.Helper()
	id := w.draft(definition)
	w.call("POST", "/api/v1/forms/"+id+"/publish", "")
	return id
}

// largest opens the largest form of a series that the service accepts, and returns
// how large that is: a limit at saving is as good as one at answering.
func (w *costWorld) largest(most int, definition func(n int) map[string]any) (id string, n int) {
	w.t.Helper()
	for n = most; n > 0; n = n * 3 / 4 {
		out, status := w.try("POST", "/api/v1/forms", encoded(w.t, definition(n)))
		if status == http.StatusCreated {
			id = out["id"].(string)
			_, status = w.try("POST", "/api/v1/forms/"+id+"/publish", "")
		}
		if status == http.StatusCreated {
			return id, n
		}
		if status != http.StatusUnprocessableEntity {
			w.t.Fatalf("make a form: %d %v", status, out)
		}
	}
	w.t.Fatal("the service accepts not even the smallest form")
	return "", 0
}

// fill stores n responses to a form, several at a time.
func (w *costWorld) fill(id string, n int, answers func(i int) map[string]any) {
	w.t.Helper()
	next := make(chan int)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range next {
				body := encoded(w.t, map[string]any{"answers": answers(i)})
				out := w.send(costly{name: "fill", method: "POST", path: "/api/v1/forms/" + id + "/responses", as: asToken, kind: jsonType, body: body})
				if out.status != http.StatusCreated {
					w.t.Errorf("store a response: %d %v", out.status, out.err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

// page opens a public page and returns the controls that a post carries along.
func (w *costWorld) page(id string) url.Values {
	w.t.Helper()
	p := &program{t: w.t, url: w.base, client: w.client}
	controls, err := p.openPage("/f/" + id)
	if err != nil {
		w.t.Fatal(err)
	}
	return controls
}

const (
	// hereInQuery stands for the server's own address in a query.
	hereInQuery = "%7Bhere%7D"

	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// encoded is a value as JSON, without escapes that only HTML needs.
func encoded(t *testing.T, value any) string {
	t.Helper()
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// question is a field; more are its other properties, name and value in turn.
func question(key, kind string, more ...any) map[string]any {
	f := map[string]any{"key": key, "kind": kind, "label": key}
	for i := 0; i+1 < len(more); i += 2 {
		f[more[i].(string)] = more[i+1]
	}
	return f
}

// options are n options o0, o1, ….
func options(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = map[string]any{"value": fmt.Sprintf("o%d", i), "label": fmt.Sprintf("o%d", i)}
	}
	return list
}

// submits is a JSON submission by anybody.
func submits(name, id string, answers any) costly {
	text, err := json.Marshal(map[string]any{"answers": answers})
	if err != nil {
		panic(err)
	}
	return costly{name: name, method: "POST", path: "/f/" + id, kind: jsonType, body: string(text)}
}

// posts is a post of a form's page.
func posts(name, id string, controls url.Values) costly {
	return costly{name: name, method: "POST", path: "/f/" + id, kind: formType, body: controls.Encode()}
}

// gets is a request without a body.
func gets(name, path string, as identity) costly {
	return costly{name: name, method: "GET", path: path, as: as}
}

// sizes are how many bytes bodies have, up to just under the limit of a body.
func (w *costWorld) sizes() []int {
	if w.small {
		return []int{24 << 10}
	}
	return []int{100 << 10, 1<<20 - 4<<10}
}

// some is how many of something to make: fewer in the short version.
func (w *costWorld) some(many, few int) int {
	if w.small {
		return few
	}
	return many
}
