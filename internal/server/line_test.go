package server

import (
	"bytes"
	"errors"
	"log/slog"
	"net/netip"
	"testing"
	"time"
)

// Lines are as slog writes them.
func TestLines(t *testing.T) {
	for _, log := range []func(*slog.Logger){
		func(l *slog.Logger) {
			l.Info("request", "method", "GET", "path", "/f/x", "status", 201, "took", 3*time.Millisecond)
		},
		func(l *slog.Logger) {
			l.Error("it broke", "error", errors.New("no \"room\" = left"), "nothing", "", "list", []int{1, 2})
		},
		func(l *slog.Logger) {
			l.Warn("two\nlines", "path", "/\x1b[31m\r\n", "word", "größe", "yes", true, "when", time.Unix(1, 5e6).UTC(), "back", `a\b`)
		},
		func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).Info("x", "c", 3, slog.Group("h", "d", 4))
		},
		func(l *slog.Logger) {
			at := time.Unix(1700000000, 120999999)
			l.Info("a second", "here", at, "there", at.In(time.FixedZone("", -3*3600-1800)), "nowhere", at.UTC(), "later", at.Add(time.Second).UTC())
		},
		func(l *slog.Logger) { l.Debug("not at this level") },
	} {
		var own, theirs bytes.Buffer
		log(slog.New(&lines{out: &own, level: slog.LevelInfo}))
		log(slog.New(slog.NewTextHandler(&theirs, &slog.HandlerOptions{Level: slog.LevelInfo})))
		// All but the time, which differs.
		_, line, _ := bytes.Cut(own.Bytes(), []byte(" "))
		_, want, _ := bytes.Cut(theirs.Bytes(), []byte(" "))
		if string(line) != string(want) {
			t.Errorf("own    %s\ntheirs %s", line, want)
		}
	}
}

// The line of a request is that of its record.
func TestRequestLine(t *testing.T) {
	for _, r := range []request{
		{at: time.Now(), method: "GET", path: "/f/größe", status: 200, bytes: 12, took: 1234567, address: netip.MustParseAddr("::1"), id: "ab12"},
		{at: time.Now(), method: "=", path: "/a b\n", status: 404, id: "x"},
	} {
		var own, theirs bytes.Buffer
		handler := (&lines{out: &own}).WithAttrs([]slog.Attr{slog.Int("node", 1)}).WithGroup("g")
		handler.(*lines).request(r)
		theirHandler := slog.NewTextHandler(&theirs, nil).WithAttrs([]slog.Attr{slog.Int("node", 1)}).WithGroup("g")
		if err := theirHandler.Handle(t.Context(), r.record()); err != nil {
			t.Fatal(err)
		}
		_, line, _ := bytes.Cut(own.Bytes(), []byte(" "))
		_, want, _ := bytes.Cut(theirs.Bytes(), []byte(" "))
		if string(line) != string(want) {
			t.Errorf("own    %s\ntheirs %s", line, want)
		}
	}
}
