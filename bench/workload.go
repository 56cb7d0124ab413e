package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
)

// workload is a kind of request under load.
type workload struct {
	name         string // name in -only
	title        string
	connections  int
	latencyConns int // connections at which p50 and p99 are measured
	target       target
	sample       []byte // a request that works at least once

	// sources returns the requests of a run, one source per connection. want is the
	// maximum number of single-use requests; repeatable ones ignore it.
	sources func(ctx context.Context, connections, want int) ([]source, error)
}

// target is what a workload must reach; zero means no target.
type target struct {
	sqlite   float64 // share of the bare server's rate
	postgres float64
	times    float64 // multiple of PocketBase's rate, on SQLite
}

// requestLine returns method and path, by which the bare server finds its response.
func (w workload) requestLine() string {
	line, _, _ := bytes.Cut(w.sample, []byte(" HTTP/1.1"))
	return string(line)
}

// get returns a GET request.
func get(path, token string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\n", path)
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}

// getPage returns the request of a signed-in user for a page.
func getPage(path, cookie string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: text/html\r\nCookie: %s\r\n\r\n", path, cookie)
}

// asBrowser makes a request look like one of a browser, whose visits Formulary counts.
func asBrowser(request []byte) []byte {
	return bytes.Replace(request, []byte("User-Agent: bench"), []byte("User-Agent: Mozilla/5.0 (bench)"), 1)
}

// post returns a request with a form body.
func post(path string, body url.Values) []byte {
	text := body.Encode()
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", path, len(text), text)
}

const (
	exchangePath   = "/api/oauth2/token"
	refreshPath    = "/api/oauth2/refresh"
	introspectPath = "/api/oauth2/introspect"
)

func (w *dataset) exchangeRequest(code string) []byte {
	return post(exchangePath, url.Values{
		"grant_type": {"authorization_code"}, "client_id": {w.app.ID}, "client_secret": {w.secret},
		"redirect_uri": {redirectURI}, "code": {code},
	})
}

func (w *dataset) refreshRequest(token string) []byte {
	return post(refreshPath, url.Values{
		"grant_type": {"refresh_token"}, "client_id": {w.app.ID}, "client_secret": {w.secret}, "refresh_token": {token},
	})
}

func (w *dataset) introspectRequest(token string) []byte {
	return post(introspectPath, url.Values{"client_id": {w.app.ID}, "client_secret": {w.secret}, "token": {token}})
}

// workloads returns everything that is measured against the bare server and the peers.
func (w *dataset) workloads(ctx context.Context, addr string) ([]workload, error) {
	list, err := w.exchange(ctx, addr, w.smallOwner, 1+refreshTokens)
	if err != nil {
		return nil, err
	}
	// Refreshing revokes the earlier access tokens of a grant, so the other workloads have their own.
	access := list[0].Access
	refreshes := make([][]byte, refreshTokens)
	for i, t := range list[1:] {
		refreshes[i] = w.refreshRequest(t.Refresh)
	}
	code, err := w.issueCodes(ctx, w.smallOwner, 1)
	if err != nil {
		return nil, err
	}
	workloads := []workload{
		newWorkload("forms", "List 20 of 1,000 forms", target{sqlite: 0.75, postgres: 0.3, times: 25}, get("/api/v1/forms?per_page=20", access)),
		newWorkload("me", "Who am I", target{sqlite: 0.7, postgres: 0.3}, get("/api/v1/me", access)),
		{
			name: "exchange", title: "Exchange a code", connections: throughput, latencyConns: latency,
			sample: w.exchangeRequest(code[0]), sources: w.exchangeSources,
		},
		newWorkload("refresh", "Refresh a token", target{sqlite: 0.15}, refreshes...),
		newWorkload("introspect", "Introspect a token", target{sqlite: 0.7}, w.introspectRequest(access)),
		newWorkload("page", "Show a form", target{sqlite: 0.75}, asBrowser(get(w.public(), ""))),
		newWorkload("feed", "Read 100 responses of the feed", target{sqlite: 0.25}, get(fmt.Sprintf("/api/v1/forms/%s/responses?after=&limit=%d", w.survey, feedPage), access)),
	}
	for _, connections := range []int{1, throughput, 256} {
		submit := newWorkload("submit", fmt.Sprintf("Submit a response, %d at a time", connections), target{}, w.submission())
		submit.connections, submit.latencyConns = connections, connections
		if connections == throughput {
			submit.latencyConns, submit.target = latency, target{sqlite: 0.38, times: 5}
		}
		workloads = append(workloads, submit)
	}
	return workloads, nil
}

// orderAnswers are the answers to the open form.
const orderAnswers = `{"name": "Ada Lovelace", "mail": "ada@example.com", "score": 9, "size": "medium", "remark": "On Tuesday, if you can."}`

// submission returns a request with a response to the open form.
func (w *dataset) submission() []byte {
	return postJSON(w.public(), `{"answers": `+orderAnswers+`}`)
}

// public returns the path of the open form.
func (w *dataset) public() string { return "/f/" + w.form }

// postJSON returns a request with a JSON body.
func postJSON(path, text string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(text), text)
}

// withToken adds an access token to a request.
func withToken(request []byte, token string) []byte {
	return bytes.Replace(request, []byte("\r\nContent-Type:"), []byte("\r\nAuthorization: Bearer "+token+"\r\nContent-Type:"), 1)
}

// newWorkload returns a workload that repeats its requests.
func newWorkload(name, title string, t target, requests ...[]byte) workload {
	return workload{name: name, title: title, connections: throughput, latencyConns: latency, target: t, sample: requests[0],
		sources: func(_ context.Context, connections, _ int) ([]source, error) {
			return distribute(requests, connections), nil
		}}
}

// distribute gives each connection its own requests if there are enough, so that two
// connections do not wait for the same row.
func distribute(requests [][]byte, connections int) []source {
	sources := make([]source, connections)
	for i := range sources {
		var own [][]byte
		for j := i % len(requests); j < len(requests); j += connections {
			own = append(own, requests[j])
		}
		sources[i] = cycle(own)
	}
	return sources
}

// exchangeSources issues the codes that a run may need. All codes have the same length,
// so each request is a copy of the last one with another code.
func (w *dataset) exchangeSources(ctx context.Context, connections, want int) ([]source, error) {
	codes, err := w.issueCodes(ctx, w.smallOwner, want)
	if err != nil {
		return nil, err
	}
	var next atomic.Int64
	sources := make([]source, connections)
	for i := range sources {
		request := w.exchangeRequest(codes[0])
		codeBytes := request[bytes.Index(request, []byte(codes[0])):][:len(codes[0])]
		sources[i] = func() []byte {
			n := next.Add(1) - 1
			if n >= int64(len(codes)) {
				return nil
			}
			copy(codeBytes, codes[n])
			return request
		}
	}
	return sources, nil
}
