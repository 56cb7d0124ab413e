package live

import (
	"log/slog"
	"sync"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

// Encode encodes a response for readers. cursor is its place in the feed.
type Encode func(cursor string, r form.Response) []byte

// Limits bound the streams that are open on one node; 0: no limit.
type Limits struct {
	PerHolder  int // per grant or session
	PerAccount int
}

// Config configures a Service.
type Config struct {
	Store  *store.Store
	Encode Encode
	Limits Limits
	Log    *slog.Logger
}

// Service has the live streams of one node.
type Service struct {
	Config
	done  chan struct{} // closed by Close
	close sync.Once

	mu       sync.Mutex
	hubs     map[hubKey]*hub
	accounts map[string]int // open streams
	holders  map[string]int // open streams
	watches  map[*watch]struct{}
	polling  bool
}

type hubKey struct{ owner, formID string }

// New returns a service. It uses no resources while there are no readers.
func New(c Config) *Service {
	return &Service{
		Config: c, done: make(chan struct{}),
		hubs: map[hubKey]*hub{}, accounts: map[string]int{}, holders: map[string]int{}, watches: map[*watch]struct{}{},
	}
}

// Close ends all streams.
func (s *Service) Close() { s.close.Do(func() { close(s.done) }) }

// acquire counts a stream against the limits until release is called.
func (s *Service) acquire(owner, holder string) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.Limits.PerHolder; n > 0 && s.holders[holder] >= n {
		return nil, tooMany("Too many live streams are open for this access. The limit is %d. Close one and try again.", n)
	}
	if n := s.Limits.PerAccount; n > 0 && s.accounts[owner] >= n {
		return nil, tooMany("Too many live streams are open for this account. The limit is %d. Close one and try again.", n)
	}
	s.holders[holder]++
	s.accounts[owner]++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		decrement(s.holders, holder)
		decrement(s.accounts, owner)
	}), nil
}

func tooMany(format string, limit int) error {
	return fault.New(fault.RateLimited, format, limit).WithRetryAfter(10)
}

func decrement(counts map[string]int, key string) {
	if counts[key]--; counts[key] <= 0 {
		delete(counts, key)
	}
}

const (
	// pollInterval bounds how late readers learn of a response.
	pollInterval = 50 * time.Millisecond
	// blindInterval is how often readers look while generations are unknown.
	blindInterval = 500 * time.Millisecond
	// scanInterval is how often they look without a change, because a process can be
	// killed between its commit and the invalidation.
	scanInterval = 5 * time.Second
)

// watch is woken when data of its owner may have changed.
type watch struct {
	owner      string
	wake       chan struct{}
	generation uint64
	woken      time.Time
}

// addWatch starts watching an owner. The watch is woken at once.
func (s *Service) addWatch(owner string) *watch {
	w := &watch{owner: owner, wake: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches[w] = struct{}{}
	if !s.polling {
		s.polling = true
		go s.poll()
	}
	return w
}

func (s *Service) removeWatch(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watches, w)
}

// poll wakes watches until there are none.
func (s *Service) poll() {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for s.pollOnce(time.Now()) {
		<-tick.C
	}
}

func (s *Service) pollOnce(now time.Time) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		generation, known := s.Store.EventGeneration(w.owner)
		since := now.Sub(w.woken)
		if known && generation == w.generation && since < scanInterval || !known && since < blindInterval {
			continue
		}
		w.generation, w.woken = generation, now
		w.notify()
	}
	s.polling = len(s.watches) > 0
	return s.polling
}

// notify wakes the watch, or lets it run once more if it is awake.
func (w *watch) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
