package limit

import (
	"crypto/rand"
	"encoding/json"
)

// Cluster synchronizes the limiters of several nodes. Each node decides alone, without a
// round trip, and sends the events that it allowed to the other nodes, which count them
// like their own. While a message is on its way, the nodes together can allow more than
// the quota. The excess delays the next allowed event.
type Cluster struct {
	nodeID  string
	members map[string]sharedLimiter
	pending chan struct{}
}

// sharedLimiter is a Limiter without its key type.
type sharedLimiter interface {
	drain(visit func(key any, n int))
	receive(key json.RawMessage, n int) error
}

// NewCluster returns the Cluster of this node.
func NewCluster() *Cluster {
	return &Cluster{nodeID: rand.Text(), members: map[string]sharedLimiter{}, pending: make(chan struct{}, 1)}
}

// Join synchronizes the limiter with the limiters of the same name on other nodes, and
// returns it. If cluster is nil, the limiter counts only on this node. Call Join before
// the limiter is used. Keys are sent as JSON.
func (l *Limiter[K]) Join(cluster *Cluster, name string) *Limiter[K] {
	if cluster != nil && l != nil {
		l.cluster = cluster
		cluster.members[name] = l
	}
	return l
}

// Pending receives a value when there are messages to send: call Outgoing then.
func (s *Cluster) Pending() <-chan struct{} { return s.pending }

func (s *Cluster) signalPending() {
	select {
	case s.pending <- struct{}{}:
	default: // a signal is pending already
	}
}

// message lists the events that one node has counted in one limiter.
type message struct {
	From  string  `json:"from"`
	Name  string  `json:"name"`
	Usage []usage `json:"taken"`
}

// usage is the number of events of a key. It is negative after refunds.
type usage struct {
	Key json.RawMessage `json:"key"`
	N   int             `json:"n"`
}

// maxMessageBytes keeps messages below the limit of NOTIFY in PostgreSQL, 8,000 bytes.
const maxMessageBytes = 7000

// Outgoing returns the messages for other nodes: the events since the last call.
func (s *Cluster) Outgoing() []string {
	var messages []string
	for name, l := range s.members {
		m := message{From: s.nodeID, Name: name}
		size := 0
		send := func() {
			if text, err := json.Marshal(m); err == nil && len(m.Usage) > 0 {
				messages = append(messages, string(text))
			}
			m.Usage, size = nil, 0
		}
		l.drain(func(key any, n int) {
			text, err := json.Marshal(key)
			if err != nil {
				return // not possible: keys are addresses and names
			}
			const overhead = 64 // bytes of the JSON names and punctuation around a key
			if size += len(text) + overhead; size > maxMessageBytes {
				send()
				size = len(text) + overhead
			}
			m.Usage = append(m.Usage, usage{text, n})
		})
		send()
	}
	return messages
}

// Receive counts the events in a message of another node. It ignores the node's own
// messages and those that it cannot parse, such as messages of a newer version.
func (s *Cluster) Receive(text string) {
	var m message
	if json.Unmarshal([]byte(text), &m) != nil || m.From == s.nodeID {
		return
	}
	l, ok := s.members[m.Name]
	if !ok {
		return
	}
	for _, u := range m.Usage {
		if l.receive(u.Key, u.N) != nil {
			return
		}
	}
}

// drain calls visit for every key with events that were not sent yet, and clears them.
func (l *Limiter[K]) drain(visit func(key any, n int)) {
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		list := s.unsent
		s.unsent = nil
		s.mu.Unlock()
		for key, n := range list {
			if n != 0 {
				visit(key, n)
			}
		}
	}
}

// receive counts events of another node, even if they exceed the quota: the next event is
// then allowed later.
func (l *Limiter[K]) receive(text json.RawMessage, n int) error {
	var key K
	if err := json.Unmarshal(text, &key); err != nil {
		return err
	}
	s := l.shard(key)
	now := l.now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(key, max(s.fullAt[key], now)+int64(n)*int64(l.eventCost), now)
	return nil
}

// queueUsage records events to be sent to the other nodes. The caller holds s.mu.
func (l *Limiter[K]) queueUsage(s *shard[K], key K, n int) {
	if l.cluster == nil {
		return
	}
	if s.unsent == nil {
		s.unsent = map[K]int{}
	}
	s.unsent[key] += n
	l.cluster.signalPending()
}
