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
// increments a counter here at once and sends NOTIFY to the other nodes, which know of it
// within milliseconds. While a node cannot listen, generations are unknown and nothing is
// cached.
type pgGenerations struct {
	counters  [generationsCount]atomic.Uint64
	listening atomic.Bool
	start     sync.Once
	stop      context.CancelFunc
	ended     sync.WaitGroup
	receive   atomic.Pointer[func(string)] // gets the messages of Exchange

	mu      sync.Mutex
	pending map[uint32]bool // slots that changed and were not sent yet
	wake    chan struct{}   // wakes broadcastLoop
	closed  bool
}

const (
	invalidateChannel = "formulary_marks"
	exchangeChannel   = "formulary_talk"
	// Changes within an interval are sent in one message.
	broadcastInterval = 2 * time.Millisecond
	exchangeInterval  = 10 * time.Millisecond
	listenRetry       = 200 * time.Millisecond
	// After listenLimit without a message the server is pinged. A server that does not
	// answer within answerLimit hangs, and requests wait for it until then.
	listenLimit = 500 * time.Millisecond
	answerLimit = 1500 * time.Millisecond
)

// notifySQL sends messages. They are worthless after a crash, so they need not be durable.
const (
	notifySQL = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1 || ` + schemaSQL + `, m) FROM json_array_elements_text($2) AS m`
	// Channels belong to the database, which can have several installations, each in a
	// schema of its own.
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

// listen starts to receive the changes of other nodes, once. Only servers listen: one-off
// commands have no cache to invalidate.
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
					// The server hangs, and with it all other connections.
					db.newPool()
				}
				hung = err == nil && db.receive(ctx, conn)
				db.generations.listening.Store(false)
				select {
				case <-ctx.Done():
				case <-time.After(listenRetry):
				}
			}
		})
	})
}

// receive listens on a connection of its own until it breaks. hung says that the server
// does not answer.
func (db *postgres) receive(ctx context.Context, conn *pgconn.PgConn) (hung bool) {
	// Closing a connection that hangs would wait.
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
			return false // tables are being distributed; nothing is cached until then
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
	// Anything may have changed while this node did not listen.
	db.generations.counters[0].Add(1)
	db.generations.listening.Store(true)
	for {
		wait, cancel := context.WithTimeout(ctx, listenLimit)
		err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil: // handleMessage has it
		case ctx.Err() != nil:
			return false
		case wait.Err() == nil:
			return false
		default:
			// No message: does the server still answer?
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

// handleMessage receives the messages of all nodes, including this one.
func (m *pgGenerations) handleMessage(_ *pgconn.PgConn, note *pgconn.Notification) {
	if !strings.HasPrefix(note.Channel, exchangeChannel) {
		m.applyNotification(note.Payload)
	} else if receive := m.receive.Load(); receive != nil {
		(*receive)(note.Payload)
	}
}

// send sends messages to all nodes that listen.
func (db *postgres) send(ctx context.Context, channel string, messages ...string) {
	list, err := json.Marshal(messages)
	if err != nil {
		return // strings can always be encoded
	}
	within, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	// After an error other nodes find out when their cached values expire.
	_ = db.Query(within, notifySQL, nil, channel, string(list))
}

// applyNotification increments the counters that a node has incremented.
func (m *pgGenerations) applyNotification(payload string) {
	for slot := range strings.SplitSeq(payload, " ") {
		if n, err := strconv.ParseUint(slot, 36, 32); err == nil && n < generationsCount {
			m.counters[n].Add(1)
		}
	}
}

// Generation changes with the owner's data: at once for changes of this node, within
// milliseconds for those of other nodes.
func (db *postgres) Generation(owner string) (uint64, bool) {
	db.listen()
	if !db.generations.listening.Load() {
		return 0, false
	}
	return db.generations.counters[0].Load() + db.generations.counters[GenerationSlot(owner)].Load(), true
}

// HasInstantInvalidation is false: other nodes' changes are known only after their commit.
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
	if m.pending == nil {
		m.pending, m.wake = map[uint32]bool{}, make(chan struct{}, 1)
		m.ended.Go(db.broadcastLoop)
	}
	m.pending[slot] = true
	select {
	case m.wake <- struct{}{}:
	default: // broadcastLoop is awake
	}
}

// broadcastLoop sends what has changed, until stopBroadcast.
func (db *postgres) broadcastLoop() {
	for range db.generations.wake {
		db.broadcast()
		time.Sleep(broadcastInterval)
	}
	db.broadcast()
}

func (db *postgres) broadcast() {
	m := &db.generations
	m.mu.Lock()
	var slots []string
	for slot := range m.pending {
		slots = append(slots, strconv.FormatUint(uint64(slot), 36))
		delete(m.pending, slot)
	}
	m.mu.Unlock()
	if len(slots) == 0 {
		return
	}
	db.send(context.Background(), invalidateChannel, strings.Join(slots, " "))
}

// stopBroadcast sends what is pending and stops listening.
func (db *postgres) stopBroadcast() {
	m := &db.generations
	m.start.Do(func() {})
	if m.stop != nil {
		m.stop()
	}
	m.mu.Lock()
	if !m.closed && m.wake != nil {
		close(m.wake)
	}
	m.closed = true
	m.mu.Unlock()
	m.ended.Wait()
}
