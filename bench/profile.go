package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
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

// guide keeps one profile of all works, one after the other, by which the compiler
// is guided from then on.
func (b *bench) guide(ctx context.Context, folder, file string) (err error) {
	s, err := b.newSite(ctx, "sqlite", folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.service, s.admin, err = b.serve(ctx, s.at); err != nil {
		return err
	}
	if s.works, err = s.world.works(ctx, s.service.addr); err != nil {
		return err
	}
	type fetched struct {
		text []byte
		err  error
	}
	profile := make(chan fetched, 1)
	go func() {
		text, err := fetchProfile(ctx, s.admin, time.Duration(len(s.works))*profileLength)
		profile <- fetched{text, err}
	}()
	for _, w := range s.works {
		fmt.Fprintln(b.progress, " ", w.title)
		feeds, err := w.feeds(ctx, w.connections, 10*fewest)
		if err != nil {
			return err
		}
		if _, err := run(ctx, s.service.addr, feeds, profileLength); err != nil {
			return err
		}
	}
	p := <-profile
	if p.err != nil {
		return p.err
	}
	text, err := withoutPaths(p.text)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return os.WriteFile(file, text, 0o644)
}

// The parts of a profile, as its format numbers them, that say where the program
// lay.
const (
	profileMapping = 3
	profileText    = 6
)

// withoutPaths takes out of a profile what tells of the machine that it was made on:
// the compiler needs the names of functions alone. A profile is a zipped list of
// parts, each with its number and its length before it, but for those that are a
// number themselves.
func withoutPaths(zipped []byte) ([]byte, error) {
	unzip, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	rest, err := io.ReadAll(unzip)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	for len(rest) > 0 {
		key, n := binary.Uvarint(rest)
		value, m := binary.Uvarint(rest[max(n, 0):])
		if n <= 0 || m <= 0 {
			return nil, errProfile
		}
		part := rest[:n+m]
		if rest = rest[n+m:]; key&7 == 2 { // value is a length
			if value > uint64(len(rest)) {
				return nil, errProfile
			}
			content := rest[:value]
			rest = rest[value:]
			switch {
			case key>>3 == profileMapping:
				continue
			case key>>3 == profileText && bytes.HasPrefix(content, []byte("/")):
				part = binary.AppendUvarint(binary.AppendUvarint(nil, key), 0)
			default:
				part = slices.Concat(part, content)
			}
		} else if key&7 != 0 {
			return nil, errProfile
		}
		zip.Write(part) // into memory
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

var errProfile = errors.New("this is no profile")
