package store_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// A backup of either engine can be restored into either, with every row.
func TestBackupAcrossEngines(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		p := addUser(t, s, "ada@example.com")
		other := addUser(t, s, "bob@example.com")
		now := time.Now()
		for _, public := range []bool{false, true} {
			app := account.Application{
				Account: p.ID, ID: id.New(id.App, now), Name: "Ünï <b>", Public: public,
				RedirectURIs: []string{"https://x/?a=1", "https://y/"}, Scopes: account.DefaultScopes(), SendIssuer: !public, CreatedAt: now,
			}
			if _, err := s.AddApp(ctx, app, "hash", store.IdempotencyKey{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, title := range []string{"one", `quotes " ' \ and ✓`, "line\u2028break"} {
			if _, err := s.CreateForm(ctx, p.ID, form.Header{Title: title, Description: "a\nb\t", Language: "de"}, nil, now); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.AddTheme(ctx, p.ID, form.Theme{Name: "Studio", Design: form.Design{Mood: "paper"}}, store.IdempotencyKey{}, now); err != nil {
			t.Fatal(err)
		}
		// Writes continue during the backup.
		stop := make(chan struct{})
		var writing sync.WaitGroup
		writing.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.CreateForm(ctx, other.ID, form.Header{Title: "meanwhile", Language: "en"}, nil, time.Now()); err != nil {
					t.Error(err)
					return
				}
			}
		})
		file := filepath.Join(t.TempDir(), "backup")
		rows, err := s.BackupFile(ctx, file)
		close(stop)
		writing.Wait()
		if err != nil || rows < 8 {
			t.Fatalf("%d rows (%v)", rows, err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file: %v (%v)", info.Mode(), err)
		}
		packed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		storetest.Each(t, func(t *testing.T, into storetest.Storage) {
			restored, err := store.Connect(ctx, into.Data, into.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer restored.Close()
			if n, err := restored.Restore(ctx, bytes.NewReader(packed)); err != nil || n != rows {
				t.Fatalf("restored %d of %d (%v)", n, rows, err)
			}
			var again bytes.Buffer
			if _, err := restored.Backup(ctx, &again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(countRows(t, packed), countRows(t, again.Bytes())); diff != "" {
				t.Errorf("the backup of the restored database differs:\n%s", diff)
			}
			forms, total, err := restored.Forms(ctx, p.ID, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 10})
			if err != nil || total != 3 || len(forms) != 3 {
				t.Fatalf("%d forms of %d (%v)", len(forms), total, err)
			}
			if want := `quotes " ' \ and ✓`; forms[1].Title != want {
				t.Errorf("title %q, want %q", forms[1].Title, want)
			}
			if themes, _, err := restored.Themes(ctx, p.ID, store.Page{Limit: 10}); err != nil || len(themes) != 1 || themes[0].Design.Mood != "paper" {
				t.Errorf("themes %v (%v)", themes, err)
			}
			// The restored database accepts writes.
			if _, err := restored.CreateForm(ctx, p.ID, form.Header{Title: "after", Language: "en"}, nil, time.Now()); err != nil {
				t.Error(err)
			}
			if _, err := restored.Restore(ctx, bytes.NewReader(packed)); err == nil {
				t.Error("restored into a database with data")
			}
		})
	})
}

// countRows counts the rows of a backup by their text. It omits the header, which contains
// a time, and ignores the order of rows, which depends on the engine.
func countRows(t *testing.T, packed []byte) map[string]int {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]int{}
	for _, line := range strings.Split(string(text), "\n")[1:] {
		set[line]++
	}
	return set
}

func TestDamagedBackup(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		addUser(t, s, "ada@example.com")
		var whole bytes.Buffer
		if _, err := s.Backup(ctx, &whole); err != nil {
			t.Fatal(err)
		}
		zip, err := gzip.NewReader(bytes.NewReader(whole.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(zip)
		if err != nil {
			t.Fatal(err)
		}
		pack := func(text string) []byte {
			var out bytes.Buffer
			zip := gzip.NewWriter(&out)
			io.WriteString(zip, text)
			zip.Close()
			return out.Bytes()
		}
		plain := string(text)
		row := strings.Index(plain, `{"row"`)
		into := storetest.Open(t, storetest.SQLite(t))
		for name, damaged := range map[string][]byte{
			"empty":          nil,
			"no backup":      []byte("hello"),
			"cut short":      whole.Bytes()[:whole.Len()/2],
			"no end":         pack(plain[:strings.Index(plain, `{"end"`)]),
			"a row missing":  pack(plain[:row] + plain[row+strings.Index(plain[row:], "\n")+1:]),
			"other format":   pack(strings.Replace(plain, "formulary-backup-1", "other", 1)),
			"newer schema":   pack(regexp.MustCompile(`"schema":\d+`).ReplaceAllString(plain, `"schema":99`)),
			"unknown table":  pack(strings.Replace(plain, `"table":"account"`, `"table":"sqlite_master"`, 1)),
			"evil column":    pack(strings.Replace(plain, `"columns":["id"`, `"columns":["id) VALUES (1); --"`, 1)),
			"a value short":  pack(plain[:row] + `{"row":["x"]}` + plain[row+strings.Index(plain[row:], "\n"):]),
			"number too big": pack(strings.Replace(plain, `,0,0,"`, `,0,99999999999999999999,"`, 1)),
		} {
			if _, err := into.Restore(ctx, bytes.NewReader(damaged)); err == nil {
				t.Errorf("%s was restored", name)
			}
			if some, err := into.HasUsers(ctx); err != nil || some {
				t.Fatalf("%s left data behind (%v)", name, err)
			}
		}
		if _, err := into.Restore(ctx, bytes.NewReader(whole.Bytes())); err != nil {
			t.Errorf("the complete backup: %v", err)
		}
		if _, err := into.UserByEmail(ctx, "ada@example.com"); errors.Is(err, fault.NotFound) {
			t.Error("Ada is missing")
		}
	})
}
