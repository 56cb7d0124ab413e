package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

const (
	hangingForms    = 50 // each of another user
	hangingWebhooks = 20 // of each form; half of them hang
	hangingRate     = 200
	// hangingTime is longer than the service waits for an answer.
	hangingTime = 30 * time.Second
)

// hangingFigures show how receivers that never answer affect the others.
type hangingFigures struct {
	webhooks int
	p50, p99 float64 // seconds between a response and its arrival at the others
}

// measureHanging submits at a fixed rate to forms with many webhooks, half of which hang.
// It must be the last measurement, because those webhooks stay.
func (b *bench) measureHanging(ctx context.Context, h *hooked) (f hangingFigures, err error) {
	f.webhooks = hangingForms * hangingWebhooks
	fmt.Fprintf(b.progress, "  %s webhooks, half of them hanging\n", formatInt(float64(f.webhooks)))
	service, admin, err := b.serve(ctx, h.location)
	if err != nil {
		return f, err
	}
	defer service.stop()
	var requests [][]byte
	for i := range hangingForms {
		owner, err := h.addUser(ctx, fmt.Sprintf("hanging%d@example.com", i), 0)
		if err != nil {
			return f, err
		}
		if err := h.publishOrder(ctx, owner); err != nil {
			return f, err
		}
		for _, prefix := range []string{"/", hangPath} {
			if err := h.addWebhooks(ctx, service.addr, owner, prefix, hangingWebhooks/2); err != nil {
				return f, err
			}
		}
		requests = append(requests, h.submission())
	}
	submit := func(length time.Duration) error {
		h.receiver.reset()
		h.receiver.time()
		t, _, err := b.loadOnce(ctx, service, paced(requests, throughput, time.Second/hangingRate), length)
		if err != nil {
			return err
		}
		if t.errors > 0 {
			return fmt.Errorf("the service said: %.600s", t.firstError)
		}
		return h.receiver.await(ctx, hangingWebhooks/2*int(t.requests))
	}
	if err := submit(hangingTime); err != nil {
		return f, err
	}
	delays := slices.Sorted(slices.Values(h.receiver.delays))
	f.p50, f.p99 = median(delays), delays[len(delays)*99/100]
	if admin == "" {
		return f, nil
	}
	return f, b.profile(ctx, admin, h.engine+"-webhooks-hanging", submit)
}

// paced returns sources that send the requests in turn, one at each interval.
func paced(requests [][]byte, connections int, interval time.Duration) []source {
	start := time.Now()
	var next atomic.Int64
	return slices.Repeat([]source{func() []byte {
		n := next.Add(1) - 1
		time.Sleep(time.Until(start.Add(time.Duration(n) * interval)))
		return requests[int(n)%len(requests)]
	}}, connections)
}
