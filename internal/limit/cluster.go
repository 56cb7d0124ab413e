package limit

import (
	"crypto/rand"
	"encoding/json"
)

// Cluster lets the limiters of several nodes count together. Each node goes on
// deciding by itself, without asking anybody, and tells the others what it let
// through; what they let through counts here as if it had happened here. So a
// node is behind by as long as a message takes, and by no more: what slipped
// through in that time is paid back by waiting longer.
type Cluster struct {
	self    string
	members map[string]sharedLimiter
	wake    chan struct{}
}

// sharedLimiter is a limiter whatever its keys are.
type sharedLimiter interface {
	drain(each func(key any, n int))
	receive(key json.RawMessage, n int) error
}

// NewCluster makes a node's end of the exchange.
func NewCluster() *Cluster {
	return &Cluster{self: rand.Text(), members: map[string]sharedLimiter{}, wake: make(chan struct{}, 1)}
}

// Join makes a limiter count together with those of the same name on other
// nodes; with a nil Shared it stays alone. It is called before the limiter is
// used, and returns it. Keys travel as JSON.
func (l *Limiter[K]) Join(with *Cluster, name string) *Limiter[K] {
	if with != nil && l != nil {
		l.shared = with
		with.members[name] = l
	}
	return l
}

// Pending has a value when there is something to say.
func (s *Cluster) Pending() <-chan struct{} { return s.wake }

func (s *Cluster) signalPending() {
	select {
	case s.wake <- struct{}{}:
	default: // it is about to be told
	}
}

// message is what one node tells the others of one limiter.
type message struct {
	From  string  `json:"from"`
	Name  string  `json:"name"`
	Taken []usage `json:"taken"`
}

// usage is how many events of a key were used, or given back.
type usage struct {
	Key json.RawMessage `json:"key"`
	N   int             `json:"n"`
}

// messageSize keeps a message below what PostgreSQL takes in one NOTIFY (8000).
const messageSize = 7000

// Outgoing returns what happened here since it was last asked.
func (s *Cluster) Outgoing() []string {
	var messages []string
	for name, l := range s.members {
		m := message{From: s.self, Name: name}
		size := 0
		send := func() {
			if text, err := json.Marshal(m); err == nil && len(m.Taken) > 0 {
				messages = append(messages, string(text))
			}
			m.Taken, size = nil, 0
		}
		l.drain(func(key any, n int) {
			text, err := json.Marshal(key)
			if err != nil {
				return // keys are addresses and names, which can always be written
			}
			const around = 64 // field names, and those of the message
			if size += len(text) + around; size > messageSize {
				send()
				size = len(text) + around
			}
			m.Taken = append(m.Taken, usage{text, n})
		})
		send()
	}
	return messages
}

// Receive counts what another node said. What cannot be read, as from a newer
// program, is left out.
func (s *Cluster) Receive(text string) {
	var m message
	if json.Unmarshal([]byte(text), &m) != nil || m.From == s.self {
		return
	}
	l, ok := s.members[m.Name]
	if !ok {
		return
	}
	for _, t := range m.Taken {
		if l.receive(t.Key, t.N) != nil {
			return
		}
	}
}

// drain hands out what was taken, and forgets it.
func (l *Limiter[K]) drain(each func(key any, n int)) {
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		list := s.untold
		s.untold = nil
		s.mu.Unlock()
		for key, n := range list {
			if n != 0 {
				each(key, n)
			}
		}
	}
}

// receive counts what was taken elsewhere, also beyond the allowance: then it takes
// longer until there is some again.
func (l *Limiter[K]) receive(text json.RawMessage, n int) error {
	var key K
	if err := json.Unmarshal(text, &key); err != nil {
		return err
	}
	s := l.shard(key)
	now := l.now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(key, max(s.full[key], now)+int64(n)*int64(l.step), now)
	return nil
}

// countElsewhere remembers an event for the other nodes; the shard is locked.
func (l *Limiter[K]) countElsewhere(s *shard[K], key K, n int) {
	if l.shared == nil {
		return
	}
	if s.untold == nil {
		s.untold = map[K]int{}
	}
	s.untold[key] += n
	l.shared.signalPending()
}
