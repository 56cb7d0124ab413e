package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

const profileLength = 5 * time.Second

// profileWork writes CPU profiles of the service under one workload, if they are
// wanted.
func (b *bench) profileWork(ctx context.Context, workload int, instances []*instance) error {
	for _, s := range instances {
		if s.admin == "" {
			continue
		}
		w := s.workloads[workload]
		sources, err := w.sources(ctx, w.connections, 10*minRequests)
		if err != nil {
			return err
		}
		err = b.profile(ctx, s.admin, fmt.Sprintf("%s-%s-%d", s.engine, w.name, w.connections), func(length time.Duration) error {
			_, err := run(ctx, s.service.addr, sources, length)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// profile writes a CPU profile of a service during work.
func (b *bench) profile(ctx context.Context, admin, name string, workload func(time.Duration) error) error {
	done := make(chan error, 1)
	go func() { done <- workload(profileLength + time.Second) }()
	text, err := fetchProfile(ctx, admin, profileLength)
	if workErr := <-done; err == nil {
		err = workErr
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.profiles, name+".pprof"), text, 0o644)
}

// fetchProfile returns a CPU profile of the given length.
func fetchProfile(ctx context.Context, admin string, length time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, length+startLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, int(length.Seconds())), nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", res.Status, text)
	}
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return text, nil
}
