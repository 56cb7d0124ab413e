package file

import (
	"context"
	"io"
	"time"

	"formulary/internal/store"
)

// Scanner looks for malware in a file. It returns store.NotScanned if it could not tell,
// store.TooLargeToScan if it never can, and the name of what it found.
type Scanner func(ctx context.Context, content io.Reader) (state store.ScanState, signature string, err error)

const (
	scanWorkers  = 2
	scanInterval = 15 * time.Second // between looks for files that other nodes left
	scanLease    = 10 * time.Minute // after it, another node may scan the file
	scanRetry    = time.Minute      // after a scanner that was not available
	scanTimeout  = 5 * time.Minute
	scanBatch    = 100
)

func (s *Service) wakeScanner() {
	if s.Scanner == nil {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// ScanFiles scans new files until ctx ends.
func (s *Service) ScanFiles(ctx context.Context) {
	if s.Scanner == nil {
		return
	}
	timer := time.NewTicker(scanInterval)
	defer timer.Stop()
	for {
		if err := s.scanWaiting(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("files could not be scanned", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// scanWaiting scans the files that are due.
func (s *Service) scanWaiting(ctx context.Context) error {
	for {
		list, err := s.Store.UnscannedFiles(ctx, s.Now(), scanBatch)
		if err != nil || len(list) == 0 {
			return err
		}
		next, done := make(chan store.Unscanned), make(chan error, scanWorkers)
		for range scanWorkers {
			go func() {
				var failed error
				for f := range next {
					if err := s.scan(ctx, f); err != nil {
						failed = err
					}
				}
				done <- failed
			}()
		}
		for _, f := range list {
			next <- f
		}
		close(next)
		for range scanWorkers {
			if failed := <-done; failed != nil {
				err = failed
			}
		}
		if err != nil || len(list) < scanBatch {
			return err
		}
	}
}

// scan scans one file, unless another node is scanning it.
func (s *Service) scan(ctx context.Context, f store.Unscanned) error {
	now := s.Now()
	if mine, err := s.Store.LeaseScan(ctx, f, now, now.Add(scanLease)); err != nil || !mine {
		return err
	}
	state, signature, err := s.scanObject(ctx, f.Object)
	if err != nil || state == store.NotScanned {
		s.stats.scanFailures.Add(1)
		if err := s.Store.PostponeScan(ctx, f, s.Now().Add(scanRetry)); err != nil {
			return err
		}
		return err
	}
	switch state {
	case store.TooLargeToScan:
		s.stats.scanFailures.Add(1)
		s.Log.Warn("file is too large for the scanner: raise its limits, then run 'formulary files check --rescan'", "form", f.FormID, "file", f.ID)
	case store.Infected:
		s.stats.infected.Add(1)
		s.Log.Warn("malware found in a file", "form", f.FormID, "file", f.ID, "signature", signature)
		fallthrough
	default:
		s.stats.scanned.Add(1)
	}
	return s.Store.SetScan(ctx, f, state, signature)
}

func (s *Service) scanObject(ctx context.Context, object string) (store.ScanState, string, error) {
	ctx, cancel := context.WithTimeout(ctx, scanTimeout)
	defer cancel()
	content, err := s.Blobs.Open(ctx, object, 0, -1)
	if err != nil {
		return store.NotScanned, "", err
	}
	defer content.Close()
	return s.Scanner(ctx, content)
}
