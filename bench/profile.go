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

// profileWork keeps CPU profiles of the service under one work, if they are
// wanted.
func (b *bench) profileWork(ctx context.Context, work int, sites []*site) error {
	for _, s := range sites {
		if s.admin == "" {
			continue
		}
		w := s.works[work]
		feeds, err := w.feeds(ctx, w.connections, 10*fewest)
		if err != nil {
			return err
		}
		err = b.profile(ctx, s.admin, fmt.Sprintf("%s-%s-%d", s.engine, w.name, w.connections), func(length time.Duration) error {
			_, err := run(ctx, s.service.addr, feeds, length)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// profile keeps a CPU profile of a service that is made to work for so long.
func (b *bench) profile(ctx context.Context, admin, name string, work func(time.Duration) error) error {
	worked := make(chan error, 1)
	go func() { worked <- work(profileLength + time.Second) }()
	text, err := fetchProfile(ctx, admin, profileLength)
	if workErr := <-worked; err == nil {
		err = workErr
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.profiles, name+".pprof"), text, 0o644)
}

// fetchProfile is what a service spends its CPU on for so long.
func fetchProfile(ctx context.Context, admin string, length time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, length+startLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, int(length.Seconds())), nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", answer.Status, text)
	}
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return text, nil
}
