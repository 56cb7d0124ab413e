package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"formulary/internal/blob"
	"formulary/internal/file"
	"formulary/internal/scan"
	"formulary/internal/server"
	"formulary/internal/store"
)

// fileSettings say where the bytes of files are.
type fileSettings struct {
	Files        string `env:"FORMULARY_FILES" help:"Where uploaded files are: a folder, or s3://bucket/prefix?endpoint=…&region=…. The default is the folder files in the data directory." placeholder:"PLACE"`
	S3Key        string `name:"s3-key" env:"FORMULARY_S3_KEY" help:"Access key for S3." placeholder:"KEY"`
	S3KeyFile    string `name:"s3-key-file" env:"FORMULARY_S3_KEY_FILE" help:"File to read the access key from." placeholder:"FILE"`
	S3Secret     string `name:"s3-secret" env:"FORMULARY_S3_SECRET" help:"Secret key for S3." placeholder:"SECRET"`
	S3SecretFile string `name:"s3-secret-file" env:"FORMULARY_S3_SECRET_FILE" help:"File to read the secret key from." placeholder:"FILE"`
}

// textOrFile returns a setting, or the content of the file that is set instead.
func textOrFile(text, name, what string) (string, error) {
	if name == "" {
		return text, nil
	}
	if text != "" {
		return "", fmt.Errorf("set either %s or the file with it, not both", what)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return strings.TrimSpace(string(content)), nil
}

// place returns where files are.
func (s Storage) place() (string, error) {
	if s.Files == "" {
		return filepath.Abs(filepath.Join(s.Data, "files"))
	}
	if strings.Contains(s.Files, "://") {
		return s.Files, nil
	}
	return filepath.Abs(s.Files)
}

// openPlace opens a folder or an S3 bucket.
func (s Storage) openPlace(place string) (blob.Store, error) {
	key, err := textOrFile(s.S3Key, s.S3KeyFile, "FORMULARY_S3_KEY")
	if err != nil {
		return nil, err
	}
	secret, err := textOrFile(s.S3Secret, s.S3SecretFile, "FORMULARY_S3_SECRET")
	if err != nil {
		return nil, err
	}
	opened, err := blob.Open(blob.Config{URL: place, Key: key, Secret: secret})
	if err != nil {
		return nil, fmt.Errorf("FORMULARY_FILES: %w", err)
	}
	return opened, nil
}

// openWithFiles is open for commands that read or delete files.
func (s Storage) openWithFiles(ctx context.Context) (*store.Store, *file.Places, error) {
	database, err := s.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	places, err := s.places(ctx, database)
	if err != nil {
		return nil, nil, errors.Join(err, database.Close())
	}
	database.SetObjects(places)
	return database, places, nil
}

// places opens where files are, and where they are being moved from or to.
func (s Storage) places(ctx context.Context, database *store.Store) (*file.Places, error) {
	place, err := s.place()
	if err != nil {
		return nil, err
	}
	return file.OpenPlaces(ctx, database, place, s.openPlace)
}

// files returns the service that stores files.
func (c serveCommand) files(storage Storage, s *store.Store, places *file.Places, log *slog.Logger) (*file.Service, error) {
	if c.FileLimit < 1 {
		return nil, errors.New("the file limit must be at least one byte")
	}
	if s.MultiNode() && !strings.HasPrefix(places.Current(), "s3:") {
		log.Warn("files are in a folder of this machine; if several nodes serve, set FORMULARY_FILES to S3, or to a folder that they share", "folder", places.Current())
	}
	if place, err := storage.place(); err == nil && place != places.Current() {
		log.Warn("the files were moved; set FORMULARY_FILES to where they are", "place", places.Current())
	}
	scanner, err := c.scanner()
	if err != nil {
		return nil, err
	}
	return file.New(file.Config{Store: s, Blobs: places, Limit: int64(c.FileLimit), Scanner: scanner, Log: log, Now: time.Now}), nil
}

// scanner looks for malware; nil if there is none.
func (c serveCommand) scanner() (file.Scanner, error) {
	if c.Clamd == "" {
		return nil, nil
	}
	client, err := scan.New(c.Clamd)
	if err != nil {
		return nil, fmt.Errorf("FORMULARY_CLAMD: %w", err)
	}
	return func(ctx context.Context, content io.Reader) (store.ScanState, string, error) {
		result, err := client.Scan(ctx, content)
		switch result.Verdict {
		case scan.Clean:
			return store.Clean, "", err
		case scan.Infected:
			return store.Infected, result.Signature, err
		}
		if errors.Is(err, scan.ErrTooLarge) {
			return store.TooLargeToScan, "", nil
		}
		return store.NotScanned, "", err
	}, nil
}

// runFiles scans and sweeps files until ctx ends. What it returns ends ctx and waits.
func runFiles(ctx context.Context, stop context.CancelFunc, files *file.Service) (wait func()) {
	var running sync.WaitGroup
	running.Go(func() { files.ScanFiles(ctx) })
	running.Go(func() { files.Sweep(ctx) })
	return func() {
		stop()
		running.Wait()
	}
}

func addFileMetrics(m *server.Metrics, files *file.Service) {
	counter := func(name, help string, value func(file.Stats) int64) server.Metric {
		return server.Metric{Name: name, Kind: "counter", Help: help, Value: func() float64 { return float64(value(files.Stats())) }}
	}
	m.Add(
		counter("formulary_file_uploads_total", "Files that were uploaded.", func(s file.Stats) int64 { return s.Uploads }),
		counter("formulary_file_uploads_refused_total", "Uploads that were refused or failed.", func(s file.Stats) int64 { return s.Refused }),
		counter("formulary_file_uploaded_bytes_total", "Size of the files that were uploaded.", func(s file.Stats) int64 { return s.UploadedBytes }),
		counter("formulary_file_downloads_total", "Files that were downloaded.", func(s file.Stats) int64 { return s.Downloads }),
		counter("formulary_file_scanned_total", "Files that were scanned for malware.", func(s file.Stats) int64 { return s.Scanned }),
		counter("formulary_file_infected_total", "Files in which malware was found.", func(s file.Stats) int64 { return s.Infected }),
		counter("formulary_file_scan_failures_total", "Scans that failed, for example because the scanner was not available.", func(s file.Stats) int64 { return s.ScanFailures }),
		counter("formulary_file_orphans_deleted_total", "Stored objects without a file that were deleted.", func(s file.Stats) int64 { return s.Orphans }),
	)
}
