package delivery

import (
	"slices"
	"sync"
	"time"
)

// gate bounds the requests that are in flight at a time, over all webhooks. Accounts enter in
// turn, one request at a time, and so do the webhooks of an account: however many webhooks one
// account has, the others do not wait for them. Receivers that are slow to answer have a lane
// of their own: while they hang, the others have room.
//
// While others need the processors more, requests start one after the other, at a slow pace.
type gate struct {
	mu         sync.Mutex
	fast, slow lane
	mostSlow   int         // requests in the slow lane, with those that moved over
	yields     func() bool // whether others need the processors; nil: never
	paced      time.Time   // when the last request started at the slow pace
	scheduled  bool        // admit will be called again
}

// lane is a number of requests, and the accounts whose webhooks wait to send one.
type lane struct {
	size, free int
	queues     []*queue // the next account first
}

// queue has the webhooks of an account that wait, the next one first.
type queue struct {
	account string
	waiting []chan<- *pass
}

func (l *lane) add(account string, into chan<- *pass) {
	i := slices.IndexFunc(l.queues, func(q *queue) bool { return q.account == account })
	if i < 0 {
		i = len(l.queues)
		l.queues = append(l.queues, &queue{account: account})
	}
	l.queues[i].waiting = append(l.queues[i].waiting, into)
}

// take removes and returns the next webhook. It is then the turn of the next account.
func (l *lane) take() (into chan<- *pass) {
	q := l.queues[0]
	into = q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	l.queues = slices.Delete(l.queues, 0, 1)
	if len(q.waiting) > 0 {
		l.queues = append(l.queues, q)
	}
	return into
}

func (l *lane) remove(into chan<- *pass) {
	for i, q := range l.queues {
		if at := slices.Index(q.waiting, into); at >= 0 {
			q.waiting = slices.Delete(q.waiting, at, at+1)
			if len(q.waiting) == 0 {
				l.queues = slices.Delete(l.queues, i, i+1)
			}
			return
		}
	}
}

// pass lets one request through.
type pass struct {
	gate *gate
	lane *lane
	late *time.Timer
}

const (
	maxLane = 512 // requests in flight in each of the two lanes
	minLane = 8
	// slowAfter is how long a request may take before it moves over.
	slowAfter = time.Second
	// The next requests to a receiver that took so long start in the slow lane.
	slowAnswer = 5 * time.Second
	// overflow is how many times its size the slow lane can have in flight, with what moved
	// over.
	overflow = 3
	// pace is the time between two requests while others need the processors.
	pace = 10 * time.Millisecond
)

// laneSize is the size of both lanes with a number of connections; 0: as many as needed.
func laneSize(connections int) int {
	if connections == 0 {
		return maxLane
	}
	return min(max(connections/(1+overflow), minLane), maxLane)
}

func newGate(fast, slow int) *gate {
	return &gate{fast: lane{size: fast, free: fast}, slow: lane{size: slow, free: slow}, mostSlow: overflow * slow}
}

// enter sends a pass when it is the turn of the account's webhook. The channel has room for it.
func (g *gate) enter(account string, slow bool, into chan<- *pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.fast
	if slow {
		l = &g.slow
	}
	l.add(account, into)
	g.admit(l)
}

// leave gives up waiting. A pass may have been sent already.
func (g *gate) leave(into chan<- *pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fast.remove(into)
	g.slow.remove(into)
}

// admit lets the first ones in while there is room. The caller has locked mu.
func (g *gate) admit(l *lane) {
	for l.free > 0 && len(l.queues) > 0 {
		if !g.mayStart() {
			return
		}
		l.free--
		p := &pass{gate: g, lane: l}
		if l == &g.fast {
			p.late = time.AfterFunc(slowAfter, p.moveOver)
		}
		l.take() <- p
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
	return g.slow.free > g.slow.size/2
}

// moveOver makes room in the fast lane for a request that takes long, even if the slow lane is
// full: otherwise receivers that hang could fill both. Webhooks whose receivers are known to be
// slow wait for the slow lane, so each adds only its first requests to it in this way. There
// is a limit, because each request takes a connection.
func (p *pass) moveOver() {
	g := p.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.lane != &g.fast {
		return
	}
	if g.slow.size-g.slow.free >= g.mostSlow {
		p.late.Reset(slowAfter)
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
