package delivery

import (
	"testing"
	"testing/synctest"
	"time"
)

// enter asks for a pass; the channel gets it.
func enter(g *gate, slow bool) chan *pass { return enterAs(g, "account", slow) }

func enterAs(g *gate, account string, slow bool) chan *pass {
	into := make(chan *pass, 1)
	g.enter(account, slow, into)
	return into
}

// passes says whether a pass has arrived.
func passes(into chan *pass) (*pass, bool) {
	select {
	case p := <-into:
		return p, true
	default:
		return nil, false
	}
}

// Requests that hang leave the fast lane after a second, even if the slow one is full, and
// webhooks get in one after the other.
func TestGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2, 1)
		var hanging []*pass
		for range 2 {
			p, ok := passes(enter(g, false))
			if !ok {
				t.Fatal("the fast lane has no room")
			}
			hanging = append(hanging, p)
		}
		third, fourth, gone := enter(g, false), enter(g, false), enter(g, false)
		if _, ok := passes(third); ok {
			t.Error("three requests in a lane for two")
		}
		time.Sleep(slowAfter + time.Millisecond)
		synctest.Wait()
		p, ok := passes(third)
		if _, also := passes(fourth); !ok || !also {
			t.Error("hanging requests keep others waiting")
		}
		slow := enter(g, true)
		if _, ok := passes(slow); ok {
			t.Error("the slow lane has room beyond its limit")
		}
		hanging[0].release()
		if _, ok := passes(slow); ok {
			t.Error("the slow lane is still full")
		}
		hanging[1].release()
		if _, ok := passes(slow); !ok {
			t.Error("the slow lane has no room")
		}
		g.leave(gone)
		last := enter(g, false)
		p.release()
		if _, ok := passes(gone); ok {
			t.Error("a pass for who has left")
		}
		if _, ok := passes(last); !ok {
			t.Error("the next one does not get in")
		}
	})
}

// While others need the processors, requests start at a slow pace, and at once when they no
// longer do.
func TestGateYields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(100, 100)
		busy := true
		g.yields = func() bool { return busy }
		var waiting []chan *pass
		for i := range 50 {
			waiting = append(waiting, enter(g, i%2 == 1))
		}
		arrived := func() (n int) {
			for _, into := range waiting {
				n += len(into)
			}
			return n
		}
		if n := arrived(); n != 1 {
			t.Errorf("%d requests start at once", n)
		}
		time.Sleep(10*pace + pace/2)
		synctest.Wait()
		if n := arrived(); n < 6 || n > 11 {
			t.Errorf("%d requests started in ten intervals", n)
		}
		g.mu.Lock()
		busy = false
		g.mu.Unlock()
		time.Sleep(2 * pace)
		synctest.Wait()
		if n := arrived(); n != 50 {
			t.Errorf("%d of 50 requests have started", n)
		}
	})
}

// However many webhooks of an account wait, another account is next.
func TestGateTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, 1)
		p, _ := passes(enterAs(g, "many", false))
		var many []chan *pass
		for range 100 {
			many = append(many, enterAs(g, "many", false))
		}
		few := []chan *pass{enterAs(g, "few", false), enterAs(g, "few", false)}
		for i, next := range []chan *pass{many[0], few[0], many[1], few[1], many[2], many[3]} {
			p.release()
			var ok bool
			if p, ok = passes(next); !ok {
				t.Fatalf("pass %d is for another webhook", i)
			}
		}
		p.release()
	})
}

// Receivers that hang take a bounded number of connections. When one gives up, the next one
// moves over.
func TestGateIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(4, 2)
		var hanging []*pass
		var next chan *pass
		for range 100 {
			next = enter(g, false)
			p, ok := passes(next)
			if !ok {
				break
			}
			hanging = append(hanging, p)
			time.Sleep(slowAfter)
			synctest.Wait()
		}
		if most := 4 + overflow*2; len(hanging) != most {
			t.Errorf("%d requests in flight, want %d", len(hanging), most)
		}
		hanging[0].release()
		time.Sleep(2 * slowAfter)
		synctest.Wait()
		if p, ok := passes(next); ok {
			p.release()
		} else {
			t.Error("no room after a request has ended")
		}
		for _, p := range hanging[1:] {
			p.release()
		}
	})
}
