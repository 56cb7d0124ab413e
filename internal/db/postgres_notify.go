package db

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// pgGenerations are counters like those of SQLite, in the memory of each node. A change
// moves the counter here at once, and tells the other nodes by NOTIFY; they know
// of it a moment later. While a node does not hear the others, it keeps nothing.
type pgGenerations struct {
	counters [generationsCount]atomic.Uint64
	hearing  atomic.Bool
	start    sync.Once
	stop     context.CancelFunc
	ended    sync.WaitGroup
	receive  atomic.Pointer[func(string)] // gets the messages of Exchange

	mu     sync.Mutex
	untold map[uint32]bool // slots that the others have not heard of
	tell   chan struct{}
	closed bool
}

const (
	invalidateChannel = "formulary_marks"
	exchangeChannel   = "formulary_talk"
	// Between two messages: what changes meanwhile goes into one.
	broadcastInterval = 2 * time.Millisecond
	exchangeInterval  = 10 * time.Millisecond
	listenAgain       = 200 * time.Millisecond
	// After so long a silence the server is asked whether it is there. It may be
	// slow to answer; a server that hangs keeps everybody waiting until then.
	listenLimit = 500 * time.Millisecond
	answerLimit = 1500 * time.Millisecond
)

// notifySQL sends messages. They are worth nothing after a crash, so nobody waits
// until they are on a disk, here and where the database is followed.
const (
	notifySQL = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1 || ` + schemaSQL + `, m) FROM json_array_elements_text($2) AS m`
	// A database can have several installations, each in a schema of its own, and
	// channels belong to all of it.
	schemaSQL = `'_' || substr(md5(current_schema()), 1, 12)`
)

// Every node that serves holds a shared lock on its listening connection.
const (
	holdServingSQL  = `SELECT pg_try_advisory_lock_shared(1718579821, hashtext(current_schema()))`
	noNodeServesSQL = `SELECT CASE WHEN pg_try_advisory_xact_lock(1718579821, hashtext(current_schema())) THEN 1 ELSE 0 END`
)

// NoNodeServes says whether no node serves from a PostgreSQL database. If so, none begins
// to before the transaction ends.
func NoNodeServes(t Tx) (bool, error) {
	var n int64
	err := t.Query(noNodeServesSQL, func(r Row) error { return r.Scan(&n) })
	return n == 1, err
}

// listen begins to hear what other nodes change. It is for servers: a command that
// keeps nothing needs no ears.
func (db *postgres) listen() {
	db.generations.start.Do(func() {
		ctx, stop := context.WithCancel(context.Background())
		db.generations.stop = stop
		db.generations.ended.Go(func() {
			hung := false
			for ctx.Err() == nil {
				before := db.hosts.first.Load()
				conn, err := db.connectPrimary(ctx, hung)
				if hung && ctx.Err() == nil && (err != nil || before != db.hosts.first.Load()) {
					// It was not this connection alone: all others hang too.
					db.newPool()
				}
				hung = err == nil && db.receive(ctx, conn)
				db.generations.hearing.Store(false)
				select {
				case <-ctx.Done():
				case <-time.After(listenAgain):
				}
			}
		})
	})
}

// receive listens on a connection of its own until it breaks, and says whether that
// was because nobody answers.
func (db *postgres) receive(ctx context.Context, conn *pgconn.PgConn) (hung bool) {
	// What hangs is not waited for.
	defer func() {
		end, cancel := context.WithTimeout(context.Background(), rollbackLimit)
		defer cancel()
		if !hung {
			conn.Close(end)
		}
	}()
	begin, cancel := context.WithTimeout(ctx, answerLimit)
	own, err := conn.Exec(begin, "SELECT "+schemaSQL).ReadAll()
	if err == nil {
		var held []*pgconn.Result
		if held, err = conn.Exec(begin, holdServingSQL).ReadAll(); err == nil && string(held[0].Rows[0][0]) != "t" {
			cancel()
			return false // tables are being moved; nothing is kept until they are
		}
	}
	if err == nil {
		schema := string(own[0].Rows[0][0])
		err = conn.Exec(begin, "LISTEN "+invalidateChannel+schema+"; LISTEN "+exchangeChannel+schema).Close()
	}
	cancel()
	if err != nil {
		return begin.Err() != nil
	}
	// Anything may have changed while nobody listened.
	db.generations.counters[0].Add(1)
	db.generations.hearing.Store(true)
	for {
		wait, cancel := context.WithTimeout(ctx, listenLimit)
		err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil: // noticed has it
		case ctx.Err() != nil:
			return false
		case wait.Err() == nil:
			return false
		default:
			// Silence: is anybody there?
			ping, cancel := context.WithTimeout(ctx, answerLimit)
			err := conn.Ping(ping)
			cancel()
			if err != nil {
				return ping.Err() != nil && ctx.Err() == nil
			}
		}
	}
}

// Exchange sends at most one batch of messages per exchangeInterval. Messages that are
// sent while the database is unavailable are lost.
func (db *postgres) Exchange(ctx context.Context, wake <-chan struct{}, outgoing func() []string, receive func(string)) {
	db.generations.receive.Store(&receive)
	db.listen()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		if messages := outgoing(); len(messages) > 0 {
			db.send(ctx, exchangeChannel, messages...)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(exchangeInterval):
		}
	}
}

// handleMessage takes what another node, or this one, has said.
func (m *pgGenerations) handleMessage(_ *pgconn.PgConn, note *pgconn.Notification) {
	if !strings.HasPrefix(note.Channel, exchangeChannel) {
		m.applyNotification(note.Payload)
	} else if receive := m.receive.Load(); receive != nil {
		(*receive)(note.Payload)
	}
}

// send sends messages to all who listen.
func (db *postgres) send(ctx context.Context, channel string, messages ...string) {
	list, err := json.Marshal(messages)
	if err != nil {
		return // texts can be written
	}
	tell, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	// When it cannot be told, the others find out within a second by themselves.
	_ = db.Query(tell, notifySQL, nil, channel, string(list))
}

// applyNotification moves the counters that another node, or this one, has moved.
func (m *pgGenerations) applyNotification(payload string) {
	for slot := range strings.SplitSeq(payload, " ") {
		if n, err := strconv.ParseUint(slot, 36, 32); err == nil && n < generationsCount {
			m.counters[n].Add(1)
		}
	}
}

// Generation is a number that differs once the owner's data has changed, here at once
// and on other nodes a moment later.
func (db *postgres) Generation(owner string) (uint64, bool) {
	db.listen()
	if !db.generations.hearing.Load() {
		return 0, false
	}
	return db.generations.counters[0].Load() + db.generations.counters[GenerationSlot(owner)].Load(), true
}

// HasInstantInvalidation is false: another node's change is known a moment after its commit.
func (db *postgres) HasInstantInvalidation() bool { return false }

func (db *postgres) Invalidate(owner string) {
	slot := GenerationSlot(owner)
	m := &db.generations
	m.counters[slot].Add(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	if m.untold == nil {
		m.untold, m.tell = map[uint32]bool{}, make(chan struct{}, 1)
		m.ended.Go(db.broadcastLoop)
	}
	m.untold[slot] = true
	select {
	case m.tell <- struct{}{}:
	default: // it is about to be told
	}
}

// broadcastLoop sends what has changed, until the end.
func (db *postgres) broadcastLoop() {
	for range db.generations.tell {
		db.broadcast()
		time.Sleep(broadcastInterval)
	}
	db.broadcast()
}

func (db *postgres) broadcast() {
	m := &db.generations
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
	db.send(context.Background(), invalidateChannel, strings.Join(slots, " "))
}

// stopBroadcast tells what is left and stops listening.
func (db *postgres) stopBroadcast() {
	m := &db.generations
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
