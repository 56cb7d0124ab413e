package store_test

import (
	"strings"
	"testing"
	"time"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Owners are told once when their storage is nearly full, whatever restarts, and once more after
// it was free in between.
func TestStorageWarning(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, textForm)
		add := func(s *store.Store, size int) {
			t.Helper()
			if _, err := s.SubmitResponse(ctx, store.Submission{Form: f, Answers: map[string]any{"text": strings.Repeat("x", size)}, At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		for range 10 {
			add(s, 10_000)
		}
		used, err := s.Usage(ctx, owner)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			name  string
			share int64 // of the storage that is used, in percent
			mails int
		}{
			{"free", 10, 0}, {"nearly full", 95, 1}, {"still nearly full", 95, 1}, {"a little better", 85, 1}, {"nearly full again", 95, 1}, {"free again", 50, 1}, {"nearly full once more", 95, 2},
		} {
			// Another process: what this one knows about the usage is a few seconds old.
			other, err := store.Open(ctx, storage.Data, storage.URL)
			if err != nil {
				t.Fatal(err)
			}
			other.SetQuotas(store.Quotas{Bytes: used.Bytes * 100 / step.share})
			add(other, 1)
			other.Close() // waits for what runs in the background
			list, err := s.DueMails(ctx, owner, time.Now(), 100)
			if err != nil || len(list) != step.mails {
				t.Errorf("%s: %d mails, want %d (%v)", step.name, len(list), step.mails, err)
			}
		}
	})
}
