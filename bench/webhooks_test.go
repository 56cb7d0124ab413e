package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReceiverCountsDifferentRequests(t *testing.T) {
	r, err := startReceiver()
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	send := func(path, id string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Webhook-Id", id)
		res, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	for _, id := range []string{"evt_1", "evt_2", "evt_1"} {
		for _, path := range []string{"/1", "/2"} {
			if status := send(path, id); status != http.StatusNoContent {
				t.Errorf("%s %s: status %d", path, id, status)
			}
		}
	}
	if status := send("/1", ""); status != http.StatusBadRequest {
		t.Errorf("without an ID: status %d", status)
	}
	if err := r.await(t.Context(), 4); err != nil {
		t.Error(err)
	}
	r.reset()
	send("/1", "evt_2")
	send("/1", "evt_3")
	if err := r.await(t.Context(), 1); err != nil {
		t.Error(err)
	}
	send("/1", "evt_4")
	if err := r.await(t.Context(), 1); err == nil {
		t.Error("more requests than expected pass")
	}
}

func TestReceiverHangs(t *testing.T) {
	r, err := startReceiver()
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+hangPath+"1", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Webhook-Id", "evt_1")
	if _, err := http.DefaultClient.Do(request); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a path that hangs: %v", err)
	}
	if got := r.arrivals().count; got != 0 {
		t.Errorf("%d requests are counted", got)
	}
}

func TestDelays(t *testing.T) {
	r := &receiver{seen: map[string]struct{}{}}
	r.time()
	r.count("/1 evt_1", fmt.Appendf(nil, `{"type": "response.created", "timestamp": %q}`, time.Now().Add(-time.Minute).UTC().Format(time.RFC3339Nano)))
	if len(r.delays) != 1 || r.delays[0] < 60 || r.delays[0] > 90 {
		t.Errorf("delays of %v seconds, not of 60", r.delays)
	}
}

func TestPaced(t *testing.T) {
	const interval = 10 * time.Millisecond
	next := paced([][]byte{[]byte("a"), []byte("b")}, 2, interval)
	start := time.Now()
	var sent string
	for range 3 {
		for _, source := range next {
			sent += string(source())
		}
	}
	if took := time.Since(start); sent != "ababab" || took < 5*interval {
		t.Errorf("%s in %s", sent, took)
	}
}

func TestArrivalRate(t *testing.T) {
	first := time.Now()
	if got := (arrivals{101, first, first.Add(2 * time.Second)}).rate(); got != 50 {
		t.Errorf("%v requests per second, not 50", got)
	}
	if got := (arrivals{1, first, first}).rate(); got != 0 {
		t.Errorf("one request has a rate of %v", got)
	}
}

// sampleWebhooks returns figures that reach all targets.
func sampleWebhooks() webhookFigures {
	return webhookFigures{
		name: "SQLite",
		submit: submitFigures{
			without:   outcome{rates: []float64{10_000, 20_000, 10_000}, cpus: []float64{40e-6, 30e-6, 50e-6}},
			with:      outcome{rates: []float64{9_500, 18_000, 8_000}, cpus: []float64{60e-6, 50e-6, 70e-6}},
			meanwhile: []float64{300, 100, 200}, left: []float64{12_000, 11_000, 10_000}, drain: []float64{1.5, 2, 1},
		},
		backlogs: []backlogFigures{
			{responses: 50_000, rate: 6_000, cpu: 80e-6, idle: 30e6, peak: 50e6},
			{responses: 50_000, rate: 5_000, cpu: 90e-6, idle: 30e6, peak: 60e6},
			{responses: 50_000, rate: 4_000, cpu: 70e-6, idle: 30e6, peak: 40e6},
		},
		far:     backlogFigures{responses: 200_000, rate: 5_500, cpu: 75e-6, idle: 30e6, peak: 55e6},
		live:    liveFigures{readers: 1000, idle: 30e6, peak: 80e6, p50: 0.1, p99: 0.2},
		hanging: hangingFigures{webhooks: 1000, p50: 0.15, p99: 2.5},
	}
}

func TestWebhookRows(t *testing.T) {
	var rows targetRows
	rows.addWebhooks(sampleWebhooks())
	var got []string
	for _, row := range rows {
		got = append(got, strings.Join(row, "|"))
	}
	want := []string{
		"SQLite, webhooks: submit, 32 at a time, with 3 webhooks to without|0.90 (0.80–0.95)|≥ 0.9|yes",
		"SQLite, webhooks: submissions without them|10,000 (10,000–20,000) req/s, 40.0 µs CPU each||",
		"SQLite, webhooks: submissions with them, and deliveries meanwhile|9,500 (8,000–18,000) req/s, 60.0 µs CPU each||",
		"SQLite, webhooks: deliveries meanwhile|200 (100–300) a second||",
		"SQLite, webhooks: deliveries left at the end of a round|11,000 (10,000–12,000)||",
		"SQLite, webhooks: time until they had arrived|1500 (1000–2000) ms||",
		"SQLite, webhooks: 50,000 responses behind, deliveries|5,000 (4,000–6,000) a second, 80.0 µs CPU each|≥ 5,000 a second|yes",
		"SQLite, webhooks: 200,000 responses behind, deliveries|5,500 a second, 75.0 µs CPU each||",
		"SQLite, webhooks: 200,000 responses behind, memory|55.0 MB, at rest 30.0 MB||",
		"SQLite, webhooks: memory above rest, 200,000 responses behind to 50,000|25.0 MB / 20.0 MB = 1.25|≤ 1.3|yes",
		"SQLite, webhooks: 200,000 responses behind, the same with one million|go run ./bench -only=webhooks -behind=1000000||",
		"SQLite, 1,000 live readers of one form: memory above rest|50.0 MB|< 100.0 MB|yes",
		"SQLite, 1,000 live readers of one form: median time until all have a response|100 ms|≤ 250 ms|yes",
		"SQLite, 1,000 live readers of one form: 99 % of the responses within|200 ms||",
		"SQLite, webhooks: 1,000 of them, half hanging, 200 responses a second: median delay of the others|150 ms|≤ 2000 ms|yes",
		"SQLite, webhooks: 1,000 of them, half hanging, 200 responses a second: 99 % of the others within|2500 ms||",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMissedWebhookTargets(t *testing.T) {
	f := sampleWebhooks()
	f.submit.with.rates = []float64{8_900, 17_800, 8_900}
	f.backlogs[1].rate = 4_999
	f.far.peak = 57e6
	f.hanging.p50 = 2.1
	f.live.peak, f.live.p50 = 130e6, 0.26
	var rows targetRows
	rows.addWebhooks(f)
	checked := 0
	for _, row := range rows {
		if row[2] == "" {
			continue
		}
		if checked++; row[3] != "NO" {
			t.Errorf("%q is reached", row)
		}
	}
	if checked != 6 {
		t.Errorf("%d targets in %q", checked, rows)
	}
	// The rate has a target on SQLite only.
	f.name = "PostgreSQL"
	rows = nil
	rows.addWebhooks(f)
	if i := slices.IndexFunc(rows, func(row []string) bool { return strings.Contains(row[0], "50,000 responses behind, deliveries") }); i < 0 || rows[i][2] != "" {
		t.Errorf("the rate on PostgreSQL: %q", rows)
	}
}

// A response counts once every reader has it.
func TestAudience(t *testing.T) {
	a := &audience{size: 2}
	a.follow(bufio.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\n\r\n5\r\nid: 1\ndata: {\"data:\":1}\n\n\r\n:\ndata: " + strings.Repeat("data:", 5000) + "\n")))
	if len(a.reached) != 0 || !slices.Equal(a.got, []int{1, 1}) {
		t.Fatalf("%v after the first reader", a.got)
	}
	a.follow(bufio.NewReader(strings.NewReader("data: 1\n")))
	if len(a.reached) != 1 {
		t.Errorf("%d responses are at both readers", len(a.reached))
	}
	a.err = nil
	if err := a.await(t.Context(), 1); err != nil {
		t.Error(err)
	}
}
