package delivery

import (
	"slices"
	"sync"
	"time"
)

// gate bounds the requests that are in flight at a time, over all webhooks. Webhooks enter in
// turn, one request at a time, so that none keeps the others waiting. Receivers that are slow
// to answer have a lane of their own: however many of them hang, the others have room.
//
// While others need the processors more, requests start one after the other, at a slow pace.
type gate struct {
	mu         sync.Mutex
	fast, slow lane
	yields     func() bool // whether others need the processors; nil: never
	paced      time.Time   // when the last request started at the slow pace
	scheduled  bool        // admit will be called again
}

// lane is a number of requests, and the webhooks that wait to send one.
type lane struct {
	free    int
	waiting []chan<- *pass
}

// pass lets one request through.
type pass struct {
	gate *gate
	lane *lane
	late *time.Timer
}

// Requests in flight in each lane, and how long one may take before it moves over.
const (
	fastRequests = 512
	slowRequests = 512
	slowAfter    = time.Second
	// The next requests to a receiver that took so long start in the slow lane.
	slowAnswer = 5 * time.Second
	// pace is the time between two requests while others need the processors.
	pace = 10 * time.Millisecond
)

func newGate(fast, slow int) *gate {
	return &gate{fast: lane{free: fast}, slow: lane{free: slow}}
}

// enter sends a pass when it is the webhook's turn. The channel has room for it.
func (g *gate) enter(slow bool, into chan<- *pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.fast
	if slow {
		l = &g.slow
	}
	l.waiting = append(l.waiting, into)
	g.admit(l)
}

// leave gives up waiting. A pass may have been sent already.
func (g *gate) leave(into chan<- *pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range []*lane{&g.fast, &g.slow} {
		if i := slices.Index(l.waiting, into); i >= 0 {
			l.waiting = slices.Delete(l.waiting, i, i+1)
		}
	}
}

// admit lets the first ones in while there is room. The caller has locked mu.
func (g *gate) admit(l *lane) {
	for l.free > 0 && len(l.waiting) > 0 {
		if !g.mayStart() {
			return
		}
		l.free--
		p := &pass{gate: g, lane: l}
		if l == &g.fast {
			p.late = time.AfterFunc(slowAfter, p.moveOver)
		}
		l.waiting[0] <- p
		l.waiting = slices.Delete(l.waiting, 0, 1)
	}
}

// mayStart reports whether a request may start now. If not, admit is called again later.
func (g *gate) mayStart() bool {
	if g.yields == nil || !g.yields() {
		return true
	}
	if now := time.Now(); now.Sub(g.paced) >= pace {
		g.paced = now
		return true
	}
	if !g.scheduled {
		g.scheduled = true
		time.AfterFunc(pace, g.resume)
	}
	return false
}

func (g *gate) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.scheduled = false
	g.admit(&g.fast)
	g.admit(&g.slow)
}

// hasRoom says whether receivers that are slow may have more requests in flight than they
// need: as long as most of the slow lane is free.
func (g *gate) hasRoom() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.slow.free > slowRequests/2
}

// moveOver makes room in the fast lane for a request that takes long, even if the slow lane is
// full: otherwise receivers that hang could fill both. Webhooks whose receivers are known to be
// slow wait for the slow lane, so each adds only its first requests to it in this way.
func (p *pass) moveOver() {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.lane != &g.fast {
		return
	}
	g.slow.free--
	p.lane = &g.slow
	g.fast.free++
	g.admit(&g.fast)
}

// release ends the request.
func (p *pass) release() {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.late != nil {
		p.late.Stop()
	}
	l := p.lane
	p.lane = nil
	l.free++
	g.admit(l)
}
