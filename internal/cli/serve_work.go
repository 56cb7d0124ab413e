package cli

import (
	"context"
	"log/slog"
	"time"

	"formulary/internal/store"
)

// runRetention deletes responses that their forms do not keep any longer. It runs beside
// runCleanup, because deleting very many takes long.
func runRetention(ctx context.Context, s *store.Store, log *slog.Logger) {
	due := time.NewTicker(closeInterval)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-due.C:
			if err := s.ApplyRetention(ctx, time.Now()); err != nil && ctx.Err() == nil {
				log.Error("could not delete old responses", "error", err)
			}
		}
	}
}

// runMoves continues moves of forms: at the start those that a killed process has left, later
// those of other processes, and those that take too long for a request. It is separate from
// runCleanup, because a move of very many responses takes long.
func runMoves(ctx context.Context, s *store.Store, log *slog.Logger) {
	tick := time.NewTicker(moveInterval)
	defer tick.Stop()
	for {
		if err := s.ContinueMoves(ctx, time.Now()); err != nil && ctx.Err() == nil {
			log.Error("could not move a form", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.WaitingMoves():
		}
	}
}

// runAppChanges records in the logs of spaces what happens to applications that have access to
// them. It is separate from runCleanup, because very many people may use an application.
func runAppChanges(ctx context.Context, s *store.Store, log *slog.Logger) {
	tick := time.NewTicker(closeInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.NotedAppChanges():
		}
		if err := s.RecordAppChanges(ctx, time.Now()); err != nil && ctx.Err() == nil {
			log.Error("could not record changes of applications", "error", err)
		}
	}
}

// runCleanup deletes expired data every 10 minutes. Every 15 seconds it opens and closes the
// forms that are due, and ends the grants whose time is over.
func runCleanup(ctx context.Context, s *store.Store, refreshIdle time.Duration, log *slog.Logger) {
	cleanup := time.NewTicker(cleanupInterval)
	defer cleanup.Stop()
	closing := time.NewTicker(closeInterval)
	defer closing.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-cleanup.C:
			if err := s.Cleanup(ctx, time.Now(), refreshIdle); err != nil && ctx.Err() == nil {
				log.Error("cleanup failed", "error", err)
			}
		case <-closing.C:
			if err := s.OpenDueForms(ctx, time.Now()); err != nil && ctx.Err() == nil {
				log.Error("could not open due forms", "error", err)
			}
			if err := s.CloseExpiredForms(ctx, time.Now()); err != nil && ctx.Err() == nil {
				log.Error("could not close expired forms", "error", err)
			}
			if err := s.EndExpiredGrants(ctx, time.Now()); err != nil && ctx.Err() == nil {
				log.Error("could not end expired grants", "error", err)
			}
		}
	}
}
