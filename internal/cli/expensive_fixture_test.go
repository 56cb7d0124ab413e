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

// requestLimit is the timeout of an expensive request.
const requestLimit = 20 * time.Second

// costFixture is the data that expensive requests use: an attacker's account, and a
// bystander with a small open form.
type costFixture struct {
	t     *testing.T
	rand  *rand.Rand
	small bool   // short version: fewer and smaller requests
	base  string // URL of the server, which changes between families

	app     clitest.App
	token   string // of the attacker
	refresh string
	cookie  string // of the attacker's session
	public  string // the bystander's form

	bystanderToken string
	bystanderHook  string // path of the bystander's webhook, if deliveries are measured
	receiver       *costReceiver
	hooked         *[]string // forms with webhooks, which are deleted after their family

	client *http.Client
}

const bystander = "bea@example.com"

// newCostFixture creates the accounts in an empty database.
func newCostFixture(t *testing.T, storage storetest.Storage) *costFixture {
	t.Helper()
	s := clitest.Start(t, storage)
	defer s.Stop()
	s.Command(clitest.Password+"\n", "user", "add", ada, "--language=de", "--password-stdin")
	s.AddUser(bystander)
	w := &costFixture{t: t, app: s.AddApp(ada, "https://app.example.com/cb"), client: clientFrom("127.0.0.1"), receiver: newCostReceiver(t), hooked: &[]string{}}
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
	w.bystanderToken = s.Token(bystander, w.app, allScopes).Access
	bystanderFixture := *w
	bystanderFixture.token = w.bystanderToken
	w.public = bystanderFixture.publishForm(map[string]any{"title": "Order", "fields": []any{question("note", "long_text")}})
	return w
}

// clientFrom returns a client that connects from a loopback address.
func clientFrom(address string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: requestLimit}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 16, DisableCompression: true},
		Timeout:       requestLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// outcome is the result of a request.
type outcome struct {
	status        int
	bytes         int // sent
	responseBytes int // length of the body
	took          time.Duration
	err           error
}

// encode returns a request as bytes.
func (w *costFixture) encode(c costlyRequest) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\nHost: %s\r\n", c.method, c.path, strings.TrimPrefix(w.base, "http://"))
	for name, value := range w.headers(c) {
		fmt.Fprintf(&out, "%s: %s\r\n", name, value)
	}
	fmt.Fprintf(&out, "Content-Length: %d\r\n\r\n%s", len(c.body), c.body)
	return out.Bytes()
}

func (w *costFixture) headers(c costlyRequest) map[string]string {
	all := map[string]string{}
	switch c.as {
	case withToken:
		all["Authorization"] = "Bearer " + w.token
	case withSession:
		all["Cookie"] = strings.TrimSuffix(w.cookie, "; ")
	}
	if c.contentType != "" {
		all["Content-Type"] = c.contentType
	}
	for name, value := range c.header {
		all[name] = value
	}
	return all
}

// send sends a request and discards the body of the response.
func (w *costFixture) send(c costlyRequest) outcome {
	start := time.Now()
	if c.abandoned {
		return w.abandon(c)
	}
	r, err := http.NewRequest(c.method, w.base+strings.ReplaceAll(c.path, serverInQuery, url.QueryEscape(w.base)), strings.NewReader(c.body))
	if err != nil {
		w.t.Fatalf("%s: %v", c.name, err)
	}
	out := outcome{bytes: len(c.path) + len(c.body)}
	for name, value := range w.headers(c) {
		r.Header.Set(name, value)
		out.bytes += len(name) + len(value)
	}
	res, err := w.client.Do(r)
	if err != nil {
		return outcome{bytes: out.bytes, took: time.Since(start), err: err}
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	out.status, out.responseBytes, out.took, out.err = res.StatusCode, int(n), time.Since(start), err
	return out
}

// abandon sends a request and closes the connection without reading.
func (w *costFixture) abandon(c costlyRequest) outcome {
	raw := w.encode(c)
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.base, "http://"))
	if err != nil {
		return outcome{err: err}
	}
	defer conn.Close()
	_, err = conn.Write(raw)
	// Enough time for the server to start working on the request.
	time.Sleep(20 * time.Millisecond)
	return outcome{bytes: len(raw), err: err}
}

// mustCall calls the API, which must succeed.
func (w *costFixture) mustCall(method, path, body string) map[string]any {
	w.t.Helper()
	out, status := w.callAPI(method, path, body)
	if status >= 300 {
		w.t.Fatalf("%s %s: %d %.600s", method, path, status, fmt.Sprint(out))
	}
	return out
}

// callAPI calls the API with the attacker's token.
func (w *costFixture) callAPI(method, path, body string) (out map[string]any, status int) {
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
	json.Unmarshal(text, &out) // the body may be empty
	return out, res.StatusCode
}

// createForm creates a form and returns its ID.
func (w *costFixture) createForm(definition map[string]any) string {
	w.t.Helper()
	return w.mustCall("POST", "/api/v1/forms", mustJSON(w.t, definition))["id"].(string)
}

// publishForm creates and publishes a form.
func (w *costFixture) publishForm(definition map[string]any) string {
	w.t.Helper()
	id := w.createForm(definition)
	w.mustCall("POST", "/api/v1/forms/"+id+"/publish", "")
	return id
}

// publishLargest publishes the largest form of a series that the service accepts, and
// returns its size. A limit on the definition is as good as one on requests.
func (w *costFixture) publishLargest(maxSize int, definition func(n int) map[string]any) (id string, n int) {
	w.t.Helper()
	for n = maxSize; n > 0; n = n * 3 / 4 {
		out, status := w.callAPI("POST", "/api/v1/forms", mustJSON(w.t, definition(n)))
		if status == http.StatusCreated {
			id = out["id"].(string)
			_, status = w.callAPI("POST", "/api/v1/forms/"+id+"/publish", "")
		}
		if status == http.StatusCreated {
			return id, n
		}
		if status != http.StatusUnprocessableEntity {
			w.t.Fatalf("make a form: %d %v", status, out)
		}
	}
	w.t.Fatal("the service rejects even the smallest form")
	return "", 0
}

// fill stores n responses to a form, eight at a time.
func (w *costFixture) fill(id string, n int, answers func(i int) map[string]any) {
	w.t.Helper()
	next := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range next {
				body := mustJSON(w.t, map[string]any{"answers": answers(i)})
				out := w.send(costlyRequest{name: "fill", method: "POST", path: "/api/v1/forms/" + id + "/responses", as: withToken, contentType: jsonType, body: body})
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
	wg.Wait()
}

// openControls opens a public page and returns its hidden inputs.
func (w *costFixture) openControls(id string) url.Values {
	w.t.Helper()
	p := &program{t: w.t, url: w.base, client: w.client}
	controls, err := p.openPage("/f/" + id)
	if err != nil {
		w.t.Fatal(err)
	}
	return controls
}

const (
	// serverInQuery is replaced by the URL of the server.
	serverInQuery = "%7Bhere%7D"

	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// mustJSON encodes a value without HTML escapes.
func mustJSON(t *testing.T, value any) string {
	t.Helper()
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// question returns a field. more holds names and values of other properties in turn.
func question(key, kind string, more ...any) map[string]any {
	f := map[string]any{"key": key, "kind": kind, "label": key}
	for i := 0; i+1 < len(more); i += 2 {
		f[more[i].(string)] = more[i+1]
	}
	return f
}

// options returns n options o0, o1 and so on.
func options(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = map[string]any{"value": fmt.Sprintf("o%d", i), "label": fmt.Sprintf("o%d", i)}
	}
	return list
}

// submitRequest returns an anonymous JSON submission.
func submitRequest(name, id string, answers any) costlyRequest {
	text, err := json.Marshal(map[string]any{"answers": answers})
	if err != nil {
		panic(err)
	}
	return costlyRequest{name: name, method: "POST", path: "/f/" + id, contentType: jsonType, body: string(text)}
}

// postRequest returns a post of a form's page.
func postRequest(name, id string, controls url.Values) costlyRequest {
	return costlyRequest{name: name, method: "POST", path: "/f/" + id, contentType: formType, body: controls.Encode()}
}

// getRequest returns a GET request.
func getRequest(name, path string, as identity) costlyRequest {
	return costlyRequest{name: name, method: "GET", path: path, as: as}
}

// bodySizes returns the sizes of bodies to try, up to just below the limit.
func (w *costFixture) bodySizes() []int {
	if w.small {
		return []int{24 << 10}
	}
	return []int{100 << 10, 1<<20 - 4<<10}
}

// scaled returns many, or few in the short version.
func (w *costFixture) scaled(many, few int) int {
	if w.small {
		return few
	}
	return many
}
