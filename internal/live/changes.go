package live

import (
	"context"
	"time"

	"formulary/internal/store"
)

// changeInterval is the least time between two looks at the database.
const changeInterval = 500 * time.Millisecond

// changeEvent tells a page that there is something new. It has no data: the page reads
// itself again, with the filter and the language that it has.
var changeEvent = []byte("event: change\ndata: {}\n\n")

// Changes is a stream of changes in the number of responses, for pages that show it. It is
// for one goroutine.
type Changes struct {
	service *Service
	owner   string
	formID  string
	only    string
	watch   *watch
	release func()

	generation uint64
	readAt     time.Time
	activity   store.ResponseActivity
}

// Changes starts a stream for one form or, if formID is empty, for all forms of the owner that only
// selects, see store.FormFilter.
// holder is who reads, such as the ID of a session.
func (s *Service) Changes(ctx context.Context, owner, holder, formID, only string) (*Changes, error) {
	release, err := s.acquire(owner, holder)
	if err != nil {
		return nil, err
	}
	c := &Changes{service: s, owner: owner, formID: formID, only: only, release: release}
	if err := c.read(ctx); err != nil {
		release()
		return nil, err
	}
	c.watch = s.addWatch(owner)
	return c, nil
}

// Count is the number of responses when they were last counted.
func (c *Changes) Count() int64 { return c.activity.Count }

// Ready implements Source.
func (c *Changes) Ready() <-chan struct{} { return c.watch.wake }

// Next implements Source. Generations are shared by several accounts, so the number of
// responses decides.
func (c *Changes) Next(ctx context.Context) ([][]byte, error) {
	generation, known := c.service.Store.EventGeneration(c.owner)
	since := time.Since(c.readAt)
	if known && generation == c.generation && since < scanInterval || since < changeInterval {
		return nil, nil // called again within a second
	}
	before := c.activity
	if err := c.read(store.ForAccount(ctx, c.owner)); err != nil || c.activity == before {
		return nil, err
	}
	return [][]byte{changeEvent}, nil
}

func (c *Changes) read(ctx context.Context) (err error) {
	c.generation, _ = c.service.Store.EventGeneration(c.owner)
	c.readAt = time.Now()
	c.activity, err = c.service.Store.ResponseActivity(ctx, c.owner, c.formID, c.only)
	return err
}

// Close ends the stream.
func (c *Changes) Close() {
	c.service.removeWatch(c.watch)
	c.release()
}
