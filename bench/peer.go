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

// peer is another product that is measured too. Its requests are listed by the name of
// the workload.
type peer struct {
	name     string
	size     int64 // of its binary
	start    func(context.Context) (*process, time.Duration, error)
	process  *process
	requests map[string][]byte
}

// startPeers builds, fills and starts the peers that the selected workloads need. They
// end with ctx at the latest.
func (b *bench) startPeers(ctx context.Context, folder string) ([]*peer, error) {
	var peers []*peer
	for _, p := range []struct {
		workloads []string
		create    func(context.Context, string) (*peer, error)
	}{
		{[]string{"forms", "submit", "start"}, newPocketBase},
		{[]string{"exchange", "introspect", "start"}, newGoOAuth2},
	} {
		isWanted := false
		for _, workload := range p.workloads {
			isWanted = isWanted || b.wants(workload)
		}
		if !isWanted || !b.peers {
			continue
		}
		peer, err := p.create(ctx, folder)
		if err != nil {
			return peers, err
		}
		fmt.Fprintf(b.progress, "%s is ready\n", peer.name)
		peers = append(peers, peer)
	}
	return peers, nil
}

// peerSpec says how to build and start a peer.
type peerSpec struct {
	module string // directory below bench/peers
	name   string
	health string // path that responds when the peer is ready
	args   []string
}

// newPeer builds a peer. It is started with its arguments and an address, and exits
// when its standard input is closed, at the latest when this program exits.
func newPeer(ctx context.Context, folder string, spec peerSpec) (*peer, string, error) {
	binary := filepath.Join(folder, "peer-"+spec.module)
	size, err := build(ctx, filepath.Join("bench", "peers", spec.module), binary)
	if err != nil {
		return nil, "", err
	}
	start := func(ctx context.Context) (*process, time.Duration, error) {
		addr, err := freeAddr()
		if err != nil {
			return nil, 0, err
		}
		cmd := exec.Command(binary, append(spec.args, addr)...)
		if _, err := cmd.StdinPipe(); err != nil {
			return nil, 0, err
		}
		return launch(ctx, cmd, addr, spec.health, binary+".log")
	}
	return &peer{name: spec.name, size: size, start: start}, binary, nil
}

// newPocketBase creates a PocketBase with the same number of forms and users as
// Formulary, and an index for the requested order.
func newPocketBase(ctx context.Context, folder string) (*peer, error) {
	data := filepath.Join(folder, "pocketbase-data")
	p, binary, err := newPeer(ctx, folder, peerSpec{"pocketbase", pocketBase, "/api/health", []string{"serve", data}})
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

// newGoOAuth2 creates a go-oauth2 server that issues tokens for client credentials, the
// cheapest grant.
func newGoOAuth2(ctx context.Context, folder string) (*peer, error) {
	p, _, err := newPeer(ctx, folder, peerSpec{module: "oauth2", name: goOAuth2, health: "/healthz"})
	if err != nil {
		return nil, err
	}
	if p.process, _, err = p.start(ctx); err != nil {
		return nil, err
	}
	issue := post("/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {"bench"}, "client_secret": {"secret"}, "scope": {"forms:read"},
	})
	a, err := fetch(ctx, p.process.addr, issue)
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
