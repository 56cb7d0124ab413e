package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// After an account is deleted, the database files contain none of its answers.
// PostgreSQL erases them when it vacuums, so only rows are checked there.
func TestDeletedAccountsLeaveNothing(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, textForm)
		for n := range 600 { // more than one batch
			if _, err := addText(t, s, f, fmt.Sprintf("confidential-%d %s", n, strings.Repeat("padding ", 50))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.AddTheme(ctx, owner, form.Theme{Name: "Studio"}, store.IdempotencyKey{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		list, _, err := s.Responses(ctx, owner, f.ID, store.ResponseFilter{}, store.Page{Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.DeleteResponsesWithUndo(ctx, owner, f.ID, []string{list[0].ID}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Summary(ctx, owner, f.ID); err != nil {
			t.Fatal(err)
		}
		if storage.Engine == "sqlite" && fragments(t, storage) == 0 {
			t.Fatal("the files do not contain the answers as text, so this test cannot work")
		}
		complete, err := s.DeleteUser(ctx, owner, time.Now())
		if err != nil || !complete {
			t.Fatal(complete, err)
		}
		if n := fragments(t, storage); n != 0 {
			t.Errorf("%d fragments of answers are left in the files", n)
		}
		for _, table := range []string{"response", "trash", "form_version", "form_draft", "form_summary", "theme", "account_purge"} {
			if n := tableRows(t, s, table); n != "0" {
				t.Errorf("%s rows of %s are left", n, table)
			}
		}
	})
}

// The next cleanup completes an interrupted deletion.
func TestInterruptedDeletion(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, textForm)
		for range 5 {
			if _, err := addText(t, s, f, "text"); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.DeleteAccountOnly(ctx, owner, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.User(ctx, owner); fault.Wrap(err).Code != fault.NotFoundInAccount {
			t.Errorf("the account: %v", err)
		}
		if err := s.Cleanup(ctx, time.Now(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if n := tableRows(t, s, "response"); n != "0" {
			t.Errorf("%s responses are left", n)
		}
	})
}

// fragments counts traces of the answers of TestDeletedAccountsLeaveNothing.
func fragments(t *testing.T, storage storetest.Storage) int {
	t.Helper()
	if storage.Engine != "sqlite" {
		return 0
	}
	files, err := filepath.Glob(filepath.Join(storage.Data, "*"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(content, []byte("confidential-"))
	}
	return n
}
