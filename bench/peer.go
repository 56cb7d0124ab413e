package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	pocketBase = "PocketBase"
	goOAuth2   = "go-oauth2, in memory"
)

// peer is a server of others that is measured beside Formulary, and what it is
// asked, by the name of the work.
type peer struct {
	name     string
	size     int64 // of its binary
	start    func(context.Context) (*process, time.Duration, error)
	process  *process
	requests map[string][]byte
}

// startPeers builds, fills and starts the peers that take part in what is
// measured; ctx ends them at the latest.
func (b *bench) startPeers(ctx context.Context, folder string) ([]*peer, error) {
	var peers []*peer
	for _, p := range []struct {
		works []string
		make  func(context.Context, string) (*peer, error)
	}{
		{[]string{"forms", "submit", "start"}, newPocketBase},
		{[]string{"exchange", "introspect", "start"}, newGoOAuth2},
	} {
		wanted := false
		for _, work := range p.works {
			wanted = wanted || b.wants(work)
		}
		if !wanted || !b.peers {
			continue
		}
		made, err := p.make(ctx, folder)
		if err != nil {
			return peers, err
		}
		fmt.Fprintf(b.progress, "%s is ready\n", made.name)
		peers = append(peers, made)
	}
	return peers, nil
}

// serving builds a peer and says how it is started: with some arguments and an
// address. It ends with its input, which ends with this program.
func serving(ctx context.Context, folder, module, name, health string, args ...string) (*peer, string, error) {
	binary := filepath.Join(folder, "peer-"+module)
	size, err := build(ctx, filepath.Join("bench", "peers", module), binary)
	if err != nil {
		return nil, "", err
	}
	start := func(ctx context.Context) (*process, time.Duration, error) {
		addr, err := freeAddr()
		if err != nil {
			return nil, 0, err
		}
		cmd := exec.Command(binary, append(args, addr)...)
		if _, err := cmd.StdinPipe(); err != nil {
			return nil, 0, err
		}
		return launch(ctx, cmd, addr, health, binary+".log")
	}
	return &peer{name: name, size: size, start: start}, binary, nil
}

// newPocketBase has as many forms as Formulary, of the same two people, with an
// index for the order in which they are asked for.
func newPocketBase(ctx context.Context, folder string) (*peer, error) {
	data := filepath.Join(folder, "pocketbase-data")
	p, binary, err := serving(ctx, folder, "pocketbase", pocketBase, "/api/health", "serve", data)
	if err != nil {
		return nil, err
	}
	seed := exec.CommandContext(ctx, binary, "seed", data)
	seed.Stderr = os.Stderr
	token, err := seed.Output()
	if err != nil {
		return nil, fmt.Errorf("seed PocketBase: %w", err)
	}
	p.requests = map[string][]byte{
		"forms":  get("/api/collections/forms/records?perPage=20&sort=-created", strings.TrimSpace(string(token))),
		"submit": postJSON("/api/collections/answers/records", orderAnswers),
	}
	p.process, _, err = p.start(ctx)
	return p, err
}

// newGoOAuth2 issues tokens to an application itself, which is the least that it
// can be asked for.
func newGoOAuth2(ctx context.Context, folder string) (*peer, error) {
	p, _, err := serving(ctx, folder, "oauth2", goOAuth2, "/healthz")
	if err != nil {
		return nil, err
	}
	if p.process, _, err = p.start(ctx); err != nil {
		return nil, err
	}
	issue := post("/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {"bench"}, "client_secret": {"secret"}, "scope": {"forms:read"},
	})
	a, err := ask(ctx, p.process.addr, issue)
	if err != nil {
		return nil, err
	}
	var t tokens
	if err := json.Unmarshal(a.Body, &t); err != nil {
		return nil, fmt.Errorf("token of go-oauth2: %w", err)
	}
	p.requests = map[string][]byte{"exchange": issue, "introspect": get("/check", t.Access)}
	return p, nil
}
