package download_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"formulary/internal/download"
)

// A file arrives completely, or the client can detect that it does not: an error before
// the first chunk is returned to the caller, a later one aborts the connection.
func TestSend(t *testing.T) {
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		write   func(io.Writer) error
		body    string
		err     error
		aborted bool
	}{
		"whole":       {write: func(w io.Writer) error { _, err := io.WriteString(w, "a,b"); return err }, body: "a,b"},
		"empty":       {write: func(io.Writer) error { return nil }},
		"not started": {write: func(io.Writer) error { return failed }, err: failed},
		"cut off": {write: func(w io.Writer) error {
			_, err := io.WriteString(w, "a,")
			return errors.Join(err, failed)
		}, body: "a,", aborted: true},
	} {
		t.Run(name, func(t *testing.T) {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
			var log strings.Builder
			defer func() {
				if aborted := recover() == http.ErrAbortHandler; aborted != c.aborted {
					t.Errorf("aborted: %t, want %t", aborted, c.aborted)
				}
				if logged := strings.Contains(log.String(), failed.Error()); logged != c.aborted {
					t.Errorf("logged: %q", log.String())
				}
				if w.Body.String() != c.body {
					t.Errorf("sent: %q, want %q", w.Body, c.body)
				}
			}()
			err := download.Send(w, r, slog.New(slog.NewTextHandler(&log, nil)), download.File{Name: "ü.csv", MediaType: "text/csv"}, c.write)
			if err != c.err {
				t.Errorf("returned %v, want %v", err, c.err)
			}
			disposition := "attachment; filename*=utf-8''%C3%BC.csv"
			if c.err != nil {
				disposition = ""
			}
			if got := w.Header().Get("Content-Disposition"); got != disposition {
				t.Errorf("Content-Disposition: %q, want %q", got, disposition)
			}
		})
	}
}
