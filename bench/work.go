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
	name   string // for -only
	title  string
	target float64 // the wanted share of the bare server's rate, on SQLite
	sample []byte  // a request that can be asked once

	// feeds makes the requests of a run over so many connections. want is how
	// many there may be at most; a work whose requests can be asked again takes
	// no heed of it.
	feeds func(ctx context.Context, connections, want int) ([]feed, error)
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
	exchangePath = "/api/oauth2/token"
	refreshPath  = "/api/oauth2/refresh"
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

// works makes everything that is measured against the bare server.
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
	return []work{
		reading("forms", "List 20 of 1,000 forms", 0.45, "/api/v1/forms?per_page=20", access),
		reading("me", "Who am I", 0.7, "/api/v1/me", access),
		{
			name: "refresh", title: "Refresh a token", target: 0.25, sample: refreshes[0],
			feeds: func(_ context.Context, connections, _ int) ([]feed, error) {
				return deal(refreshes, connections), nil
			},
		},
		{
			name: "exchange", title: "Exchange a code", sample: w.exchangeRequest(code[0]),
			feeds: w.exchangeFeeds,
		},
		reading("page", "Show a form", 0.3, w.public(), ""),
		{
			name: "submit", title: "Submit a response", target: 0.4, sample: w.submission(),
			feeds: func(_ context.Context, connections, _ int) ([]feed, error) {
				return deal([][]byte{w.submission()}, connections), nil
			},
		},
	}, nil
}

// submission is a response to the open form.
func (w *world) submission() []byte {
	const text = `{"answers": {"name": "Ada Lovelace", "mail": "ada@example.com", "score": 9, "size": "medium", "remark": "On Tuesday, if you can."}}`
	return postJSON(w.public(), text)
}

// public is where anybody sees and answers the open form.
func (w *world) public() string { return "/f/" + w.form }

// postJSON is a request with JSON as its body.
func postJSON(path, text string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(text), text)
}

// reading is a work that asks the same again and again.
func reading(name, title string, target float64, path, token string) work {
	request := get(path, token)
	return work{name: name, title: title, target: target, sample: request,
		feeds: func(_ context.Context, connections, _ int) ([]feed, error) {
			return deal([][]byte{request}, connections), nil
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
