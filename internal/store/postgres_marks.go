package store

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// pgMarks are counters like those of SQLite, in the memory of each node. A change
// moves the counter here at once, and tells the other nodes by NOTIFY; they know
// of it a moment later. While a node does not hear the others, it keeps nothing.
type pgMarks struct {
	counters [marksCount]atomic.Uint64
	hearing  atomic.Bool
	start    sync.Once
	stop     context.CancelFunc
	ended    sync.WaitGroup

	mu     sync.Mutex
	untold map[uint32]bool // slots that the others have not heard of
	tell   chan struct{}
	closed bool
}

const (
	marksChannel = "formulary_marks"
	// Between two messages: what changes meanwhile goes into one.
	tellEvery   = 2 * time.Millisecond
	listenAgain = 200 * time.Millisecond
	listenLimit = 5 * time.Second
)

// listen begins to hear what other nodes change. It is for servers: a command that
// keeps nothing needs no ears.
func (db *postgres) listen() {
	db.marks.start.Do(func() {
		ctx, stop := context.WithCancel(context.Background())
		db.marks.stop = stop
		db.marks.ended.Go(func() {
			for ctx.Err() == nil {
				_ = db.hear(ctx) // whatever ended it, begin anew
				db.marks.hearing.Store(false)
				select {
				case <-ctx.Done():
				case <-time.After(listenAgain):
				}
			}
		})
	})
}

// hear listens on a connection of its own until it breaks.
func (db *postgres) hear(ctx context.Context) error {
	dial, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	conn, err := pgx.ConnectConfig(dial, db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.Background(), rollbackLimit)
		defer cancel()
		conn.Close(end)
	}()
	if _, err := conn.Exec(dial, "LISTEN "+marksChannel); err != nil {
		return err
	}
	// Anything may have changed while nobody listened.
	db.marks.counters[0].Add(1)
	db.marks.hearing.Store(true)
	for {
		wait, cancel := context.WithTimeout(ctx, listenLimit)
		note, err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil:
			db.marks.heard(note.Payload)
		case ctx.Err() != nil:
			return ctx.Err()
		case wait.Err() == nil:
			return err
		default:
			// Silence: is anybody there?
			ping, cancel := context.WithTimeout(ctx, dialLimit)
			err := conn.Ping(ping)
			cancel()
			if err != nil {
				return err
			}
		}
	}
}

// heard moves the counters that another node, or this one, has moved.
func (m *pgMarks) heard(payload string) {
	for slot := range strings.SplitSeq(payload, " ") {
		if n, err := strconv.ParseUint(slot, 36, 32); err == nil && n < marksCount {
			m.counters[n].Add(1)
		}
	}
}

// Mark is a number that differs once the owner's data has changed, here at once
// and on other nodes a moment later.
func (db *postgres) Mark(owner string) (uint64, bool) {
	db.listen()
	if !db.marks.hearing.Load() {
		return 0, false
	}
	return db.marks.counters[0].Load() + db.marks.counters[markSlot(owner)].Load(), true
}

// Exact is false: another node's change is known a moment after its commit.
func (db *postgres) Exact() bool { return false }

func (db *postgres) Bump(owner string) {
	slot := uint32(0)
	if owner != everybody {
		slot = markSlot(owner)
	}
	m := &db.marks
	m.counters[slot].Add(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	if m.untold == nil {
		m.untold, m.tell = map[uint32]bool{}, make(chan struct{}, 1)
		m.ended.Go(db.tellOthers)
	}
	m.untold[slot] = true
	select {
	case m.tell <- struct{}{}:
	default: // it is about to be told
	}
}

// tellOthers sends what has changed, until the end.
func (db *postgres) tellOthers() {
	for range db.marks.tell {
		db.tellNow()
		time.Sleep(tellEvery)
	}
	db.tellNow()
}

func (db *postgres) tellNow() {
	m := &db.marks
	m.mu.Lock()
	var slots []string
	for slot := range m.untold {
		slots = append(slots, strconv.FormatUint(uint64(slot), 36))
		delete(m.untold, slot)
	}
	m.mu.Unlock()
	if len(slots) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialLimit)
	defer cancel()
	// When it cannot be told, the others find out within a second by themselves.
	_, _ = db.pool.Exec(ctx, "SELECT pg_notify($1, $2)", marksChannel, strings.Join(slots, " "))
}

// endMarks tells what is left and stops listening.
func (db *postgres) endMarks() {
	m := &db.marks
	m.start.Do(func() {})
	if m.stop != nil {
		m.stop()
	}
	m.mu.Lock()
	if !m.closed && m.tell != nil {
		close(m.tell)
	}
	m.closed = true
	m.mu.Unlock()
	m.ended.Wait()
}
