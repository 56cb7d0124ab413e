package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
)

// work is one kind of request under load.
type work struct {
	name        string // for -only
	title       string
	connections int
	calm        int // connections at which p50 and p99 are measured
	target      target
	sample      []byte // a request that can be asked once

	// feeds makes the requests of a run over so many connections. want is how
	// many there may be at most; a work whose requests can be asked again takes
	// no heed of it.
	feeds func(ctx context.Context, connections, want int) ([]feed, error)
}

// target is what a work is to reach; zero is no target.
type target struct {
	sqlite   float64 // share of the bare server's rate
	postgres float64
	times    float64 // so many times the rate of PocketBase, on SQLite
}

// asks is the method and path, by which the bare server knows its answer.
func (w work) asks() string {
	line, _, _ := bytes.Cut(w.sample, []byte(" HTTP/1.1"))
	return string(line)
}

// get is a request without a body.
func get(path, token string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\n", path)
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}

// post is a request with a form as its body.
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

func (w *world) exchangeRequest(code string) []byte {
	return post(exchangePath, url.Values{
		"grant_type": {"authorization_code"}, "client_id": {w.app.ID}, "client_secret": {w.secret},
		"redirect_uri": {redirectURI}, "code": {code},
	})
}

func (w *world) refreshRequest(token string) []byte {
	return post(refreshPath, url.Values{
		"grant_type": {"refresh_token"}, "client_id": {w.app.ID}, "client_secret": {w.secret}, "refresh_token": {token},
	})
}

func (w *world) introspectRequest(token string) []byte {
	return post(introspectPath, url.Values{"client_id": {w.app.ID}, "client_secret": {w.secret}, "token": {token}})
}

// works makes everything that is measured beside the bare server and the peers.
func (w *world) works(ctx context.Context, addr string) ([]work, error) {
	list, err := w.exchange(ctx, addr, w.some, refreshTokens)
	if err != nil {
		return nil, err
	}
	refreshes := make([][]byte, len(list))
	for i, t := range list {
		refreshes[i] = w.refreshRequest(t.Refresh)
	}
	code, err := w.codes(ctx, w.some, 1)
	if err != nil {
		return nil, err
	}
	access := list[0].Access
	works := []work{
		asked("forms", "List 20 of 1,000 forms", target{sqlite: 0.75, postgres: 0.3, times: 25}, get("/api/v1/forms?per_page=20", access)),
		asked("me", "Who am I", target{sqlite: 0.7, postgres: 0.3}, get("/api/v1/me", access)),
		{
			name: "exchange", title: "Exchange a code", connections: throughput, calm: latency,
			sample: w.exchangeRequest(code[0]), feeds: w.exchangeFeeds,
		},
		asked("refresh", "Refresh a token", target{sqlite: 0.15}, refreshes...),
		asked("introspect", "Introspect a token", target{sqlite: 0.7}, w.introspectRequest(access)),
		asked("page", "Show a form", target{sqlite: 0.75}, get(w.public(), "")),
		asked("feed", "Read 100 responses of the feed", target{}, get(fmt.Sprintf("/api/v1/forms/%s/responses?after=&limit=%d", w.survey, feedPage), access)),
	}
	for _, connections := range []int{1, throughput, 256} {
		submit := asked("submit", fmt.Sprintf("Submit a response, %d at a time", connections), target{}, w.submission())
		submit.connections, submit.calm = connections, connections
		if connections == throughput {
			submit.calm, submit.target = latency, target{sqlite: 0.38, times: 5}
		}
		works = append(works, submit)
	}
	return works, nil
}

// orderAnswers are to the questions of the open form.
const orderAnswers = `{"name": "Ada Lovelace", "mail": "ada@example.com", "score": 9, "size": "medium", "remark": "On Tuesday, if you can."}`

// submission is a response to the open form.
func (w *world) submission() []byte {
	return postJSON(w.public(), `{"answers": `+orderAnswers+`}`)
}

// public is where anybody sees and answers the open form.
func (w *world) public() string { return "/f/" + w.form }

// postJSON is a request with JSON as its body.
func postJSON(path, text string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(text), text)
}

// withToken is a request by an application.
func withToken(request []byte, token string) []byte {
	return bytes.Replace(request, []byte("\r\nContent-Type:"), []byte("\r\nAuthorization: Bearer "+token+"\r\nContent-Type:"), 1)
}

// asked is a work that asks the same again and again.
func asked(name, title string, t target, requests ...[]byte) work {
	return work{name: name, title: title, connections: throughput, calm: latency, target: t, sample: requests[0],
		feeds: func(_ context.Context, connections, _ int) ([]feed, error) {
			return deal(requests, connections), nil
		}}
}

// deal gives each connection requests of its own as long as there are enough,
// so that two connections do not wait for the same row.
func deal(requests [][]byte, connections int) []feed {
	feeds := make([]feed, connections)
	for i := range feeds {
		var own [][]byte
		for j := i % len(requests); j < len(requests); j += connections {
			own = append(own, requests[j])
		}
		feeds[i] = turns(own)
	}
	return feeds
}

// exchangeFeeds issues the codes that a run may need. Codes are all of one
// length, so each request is the last one with another code written into it.
func (w *world) exchangeFeeds(ctx context.Context, connections, want int) ([]feed, error) {
	codes, err := w.codes(ctx, w.some, want)
	if err != nil {
		return nil, err
	}
	var taken atomic.Int64
	feeds := make([]feed, connections)
	for i := range feeds {
		request := w.exchangeRequest(codes[0])
		place := request[bytes.Index(request, []byte(codes[0])):][:len(codes[0])]
		feeds[i] = func() []byte {
			n := taken.Add(1) - 1
			if n >= int64(len(codes)) {
				return nil
			}
			copy(place, codes[n])
			return request
		}
	}
	return feeds, nil
}
