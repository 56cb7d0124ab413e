package file

import (
	"context"
	"time"
)

const (
	garbageInterval = time.Minute
	sweepInterval   = 24 * time.Hour
	firstSweep      = time.Hour // after the start, for services that are restarted every day
	// orphanAge is how old an object without a row must be before it is deleted: an upload
	// stores the object first, and takes less time.
	orphanAge = 24 * time.Hour
	// orphanBatch is how many objects are compared with the rows at a time.
	orphanBatch = 200
)

// Sweep deletes what is not needed any more until ctx ends: expired uploads and the objects
// of deleted files every minute, objects without a row an hour after the start and then every
// day. Uploads that wait to be continued end with it.
func (s *Service) Sweep(ctx context.Context) {
	often, daily := time.NewTicker(garbageInterval), time.NewTimer(firstSweep)
	defer often.Stop()
	defer daily.Stop()
	defer s.pending.close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-often.C:
			if err := s.Store.SweepFiles(ctx, s.Now()); err != nil && ctx.Err() == nil {
				s.Log.Error("deleted files could not be removed from the storage", "error", err)
			}
		case <-daily.C:
			daily.Reset(sweepInterval)
			if _, err := s.SweepOrphans(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("the storage could not be swept", "error", err)
			}
		}
	}
}

// SweepOrphans deletes the objects that have no row and are older than a day, and returns
// their number. Those are left by crashes.
func (s *Service) SweepOrphans(ctx context.Context) (int, error) {
	deleted := 0
	err := s.eachOrphan(ctx, s.Now().Add(-orphanAge), func(key string) error {
		if err := s.Blobs.Delete(ctx, key); err != nil {
			return err
		}
		deleted++
		s.stats.orphans.Add(1)
		return nil
	})
	return deleted, err
}

// eachOrphan calls fn with each object without a row that was stored before a time.
func (s *Service) eachOrphan(ctx context.Context, before time.Time, fn func(key string) error) error {
	var batch []string
	check := func() error {
		known, err := s.Store.KnownObjects(ctx, batch)
		if err != nil {
			return err
		}
		for _, key := range batch {
			if !known[key] {
				if err := fn(key); err != nil {
					return err
				}
			}
		}
		batch = batch[:0]
		return nil
	}
	for object, err := range s.Blobs.All(ctx) {
		if err != nil {
			return err
		}
		if !object.Modified.Before(before) {
			continue
		}
		if batch = append(batch, object.Key); len(batch) == orphanBatch {
			if err := check(); err != nil {
				return err
			}
		}
	}
	return check()
}
