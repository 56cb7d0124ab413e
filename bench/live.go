package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	liveReaders   = 1_000
	liveResponses = 100
	liveInterval  = 50 * time.Millisecond // between two responses
)

// liveFigures show how many readers follow one form.
type liveFigures struct {
	readers    int
	idle, peak int64   // bytes: of the service at rest, and at most with the readers
	p50, p99   float64 // seconds from sending a response until all readers have it
}

// audience is a group of readers of a live stream. Every reader gets the responses in the
// same order.
type audience struct {
	size  int
	conns []net.Conn
	all   sync.WaitGroup

	mu      sync.Mutex
	got     []int       // by response: how many readers have it
	reached []time.Time // by response: when all had it
	err     error
}

// measureLive lets many readers follow a form, submits responses to it, and measures the
// memory and the time until every reader has each response.
func (b *bench) measureLive(ctx context.Context, h *hooked) (f liveFigures, err error) {
	f.readers = liveReaders
	fmt.Fprintf(b.progress, "  %s live readers of one form\n", formatInt(float64(f.readers)))
	service, _, err := b.serve(ctx, h.location)
	if err != nil {
		return f, err
	}
	defer service.stop()
	if err := h.publishOrder(ctx, h.largeOwner); err != nil {
		return f, err
	}
	list, err := h.exchange(ctx, service.addr, h.largeOwner, 1)
	if err != nil {
		return f, err
	}
	submit := func() error {
		_, err := fetch(ctx, service.addr, h.submission())
		return err
	}
	if err := submit(); err != nil {
		return f, err
	}
	select {
	case <-time.After(idleTime):
	case <-ctx.Done():
		return f, ctx.Err()
	}
	if f.idle, err = service.memory(); err != nil {
		return f, err
	}
	if err := service.resetPeak(); err != nil {
		return f, err
	}
	readers := &audience{size: liveReaders}
	defer readers.leave()
	if err := readers.join(ctx, service.addr, get("/api/v1/forms/"+h.form+"/responses/live", list[0].Access)); err != nil {
		return f, err
	}
	var sent []time.Time
	for i := range liveResponses + 1 { // the first is not measured
		sent = append(sent, time.Now())
		if err := submit(); err != nil {
			return f, err
		}
		if i == 0 {
			if err := readers.await(ctx, 1); err != nil {
				return f, err
			}
		}
		time.Sleep(time.Until(sent[i].Add(liveInterval)))
	}
	if err := readers.await(ctx, len(sent)); err != nil {
		return f, err
	}
	var delays []float64
	for i, at := range readers.reached[1:] {
		delays = append(delays, at.Sub(sent[i+1]).Seconds())
	}
	slices.Sort(delays)
	f.p50, f.p99 = median(delays), delays[len(delays)*99/100]
	f.peak, err = service.peak()
	return f, err
}

// join connects all readers and returns when the service has accepted them.
func (a *audience) join(ctx context.Context, addr string, request []byte) error {
	for range a.size {
		c, err := (&net.Dialer{Timeout: dialLimit}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return fmt.Errorf("live reader: %w", err)
		}
		a.conns = append(a.conns, c)
		if _, err := c.Write(request); err != nil {
			return fmt.Errorf("live reader: %w", err)
		}
		lines := bufio.NewReaderSize(c, 1<<10)
		status, err := lines.ReadSlice('\n')
		if err != nil || !bytes.Contains(status, []byte(" 200 ")) {
			return fmt.Errorf("live reader: the service said %q: %w", status, err)
		}
		a.all.Go(func() { a.follow(lines) })
	}
	return nil
}

// follow counts the responses of one reader until its connection is closed.
func (a *audience) follow(lines *bufio.Reader) {
	n, isStart := 0, true // of a line
	for {
		line, err := lines.ReadSlice('\n')
		if isStart && bytes.HasPrefix(line, []byte("data:")) {
			a.count(n)
			n++
		}
		isStart = err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			a.mu.Lock()
			a.err = err
			a.mu.Unlock()
			return
		}
	}
}

// count counts that one more reader has a response.
func (a *audience) count(response int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if response == len(a.got) {
		a.got = append(a.got, 0)
	}
	if a.got[response]++; a.got[response] == a.size {
		a.reached = append(a.reached, time.Now())
	}
}

// await waits until all readers have n responses.
func (a *audience) await(ctx context.Context, n int) error {
	for begun := time.Now(); ; {
		a.mu.Lock()
		reached, err := len(a.reached), a.err
		a.mu.Unlock()
		switch {
		case reached >= n:
			return nil
		case err != nil:
			return fmt.Errorf("live reader: %w", err)
		case time.Since(begun) > stallLimit:
			return fmt.Errorf("live readers: %d of %d responses are at all of them", reached, n)
		}
		select {
		case <-time.After(arrivalPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave disconnects all readers.
func (a *audience) leave() {
	for _, c := range a.conns {
		c.Close()
	}
	a.all.Wait()
}
