// Package file stores the files that respondents upload and the pictures of owners: rows in
// the database, bytes in a folder or in S3. The bytes come first and go last, so that every
// row has its bytes; what a crash leaves without a row is swept.
package file

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"formulary/internal/blob"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/store"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store *store.Store
	Blobs blob.Store
	Limit int64 // size of the largest file, in bytes
	// Scanner looks for malware; nil: files are not scanned. With a scanner, only files in
	// which it found nothing can be read.
	Scanner Scanner
	Log     *slog.Logger
	Now     func() time.Time
}

// Service stores and reads files.
type Service struct {
	Config
	key  []byte // of the names of clients
	wake chan struct{}
	// pending are the uploads that can be continued.
	pending pendingUploads
	stats   counters
}

type counters struct {
	uploads, refused, uploadedBytes atomic.Int64
	downloads                       atomic.Int64
	scanned, infected, scanFailures atomic.Int64
	orphans                         atomic.Int64
}

// Stats are the totals since the process started.
type Stats struct {
	Uploads, Refused, UploadedBytes int64
	Downloads                       int64
	Scanned, Infected, ScanFailures int64
	Orphans                         int64
}

// New returns a Service.
func New(c Config) *Service {
	s := &Service{Config: c, key: make([]byte, 32), wake: make(chan struct{}, 1)}
	rand.Read(s.key)
	return s
}

// Stats returns the totals of this process.
func (s *Service) Stats() Stats {
	c := &s.stats
	return Stats{
		c.uploads.Load(), c.refused.Load(), c.uploadedBytes.Load(), c.downloads.Load(),
		c.scanned.Load(), c.infected.Load(), c.scanFailures.Load(), c.orphans.Load(),
	}
}

// client returns a name for the network of a client. It is stored while an upload waits for
// its response, and says nothing about the address to anyone but this process.
func (s *Service) client(address netip.Addr) string {
	if !address.IsValid() {
		return ""
	}
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(limit.ClientNetwork(address).String()))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// errBlocked are the reasons why a file cannot be read.
var (
	errNotScanned     = fault.New(fault.FileBlocked, "The file has not been scanned for malware yet. Try again later.").WithRetryAfter(10)
	errTooLargeToScan = fault.New(fault.FileBlocked, "The file is too large to be scanned for malware and cannot be downloaded.")
	errInfected       = fault.New(fault.FileBlocked, "The file contains malware and cannot be downloaded.")
)

// Readable returns an error if a file must not be read because of malware in it, or because
// that is not known yet.
func (s *Service) Readable(f store.File) error {
	switch {
	case f.Scan == store.Infected:
		return errInfected
	case s.Scanner != nil && f.Scan == store.TooLargeToScan:
		return errTooLargeToScan
	case s.Scanner != nil && f.Scan != store.Clean:
		return errNotScanned
	}
	return nil
}

// Read returns the row of a file of a response, and its bytes.
func (s *Service) Read(ctx context.Context, owner, formID, fileID string) (store.File, io.ReadSeekCloser, error) {
	f, err := s.Store.File(ctx, owner, formID, fileID)
	if err != nil {
		return f, nil, err
	}
	if err := s.Readable(f); err != nil {
		return f, nil, err
	}
	content, err := s.open(ctx, f.Object)
	s.stats.downloads.Add(1)
	return f, content, err
}

// open opens a whole object.
func (s *Service) open(ctx context.Context, object string) (io.ReadSeekCloser, error) {
	content, err := s.Blobs.Open(ctx, object, 0, -1)
	if err != nil {
		return nil, missingObject(err)
	}
	return content.(io.ReadSeekCloser), nil
}

// missingObject makes an error of ours of an object that should exist.
func missingObject(err error) error {
	if fault.Wrap(err).Code == fault.NotFoundInAccount {
		return fault.New(fault.Internal, "The file is missing in the storage.").WithCause(err)
	}
	return err
}
