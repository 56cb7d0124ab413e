package delivery

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"formulary/internal/store"
)

// commit stores what has finished, while nothing else is being stored.
func (r *runner) commit(ctx context.Context) {
	r.postponed = false
	if r.lost {
		r.finished, r.disable = nil, ""
	}
	if r.committing != nil || r.lost {
		return
	}
	position, replayed := r.live.reached(), r.replay.reached()
	if r.replay.isDone() {
		replayed = r.replay.until
	}
	moved := position != r.live.position || replayed != r.replay.position
	// A position alone is worth a commit only when there is time for it.
	if len(r.finished) == 0 && r.disable == "" && !(moved && len(r.sent) == 0) {
		return
	}
	if r.postponed = r.mayPostpone(); r.postponed {
		return
	}
	c := store.DeliveryCommit{
		Key: r.hook.WebhookKey, From: r.live.position, Position: position, FailingSince: r.failing, Disable: r.disable, At: r.d.Now(),
		Replay: r.hook.Replays, ReplayPosition: replayed, ReplayUntil: r.replay.until, Trim: rand.IntN(trimEvery) < len(r.finished),
	}
	for _, it := range r.finished {
		it.Stored = it.Stored || it.window == &r.replay
		c.Deliveries = append(c.Deliveries, it.Delivery)
	}
	r.committing, r.finished = r.finished, nil
	if r.committing == nil {
		r.committing = []*item{}
	}
	r.disable = ""
	if replayed == r.replay.until {
		c.ReplayUntil = ""
	}
	r.live.target, r.replay.target = position, replayed
	go func() { r.committed <- r.d.store(ctx, r.owner.id, c) }()
}

// commitPace is the time between two commits of a webhook while submissions need the disk.
const commitPace = 250 * time.Millisecond

// mayPostpone says whether the next commit can wait, so that it stores more: there is room for
// more requests, and submissions need the disk.
func (r *runner) mayPostpone() bool {
	return time.Since(r.lastCommit) < commitPace && r.hasRoom() && r.disable == "" && !r.halting && r.d.load.yields()
}

// store commits, again and again while the database is unavailable.
func (d *Dispatcher) store(ctx context.Context, owner string, c store.DeliveryCommit) error {
	for {
		err := d.Store.CommitDeliveries(ctx, owner, c)
		if err == nil || errors.Is(err, store.ErrPositionMoved) || ctx.Err() != nil {
			return err
		}
		d.logError(ctx, "could not store deliveries", err)
		select {
		case <-ctx.Done():
		case <-time.After(retryInterval / 2):
		}
	}
}

// applied notes that a commit has ended.
func (r *runner) applied(err error) {
	list := r.committing
	r.committing, r.lastCommit = nil, time.Now()
	if err != nil {
		r.lost = true
		r.fail("could not store deliveries", err)
		return
	}
	for _, it := range list {
		it.state = itemCommitted
		was, is := it.wasPending, it.Status == store.DeliveryPending
		switch {
		case is && !was:
			r.pending++
		case was && !is:
			r.pending--
		}
		if is && (r.nextRetry.IsZero() || it.NextAt.Before(r.nextRetry)) {
			r.nextRetry = it.NextAt
		}
		delete(r.trying, it.Position)
	}
	r.live.advance()
	if r.replay.advance(); r.replay.until != "" && r.replay.position == r.replay.until {
		r.replay = window{ended: true, position: r.replay.position, target: r.replay.position}
	}
}
