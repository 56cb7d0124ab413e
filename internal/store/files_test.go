package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// objects are the bytes of files in memory.
type objects struct {
	mu     sync.Mutex
	stored map[string]bool
	broken bool // deletions fail
}

func (o *objects) Put(_ context.Context, key string, _ io.Reader, _ int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stored[key] = true
	return nil
}

func (o *objects) Open(context.Context, string, int64, int64) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(nil)), nil
}

func (o *objects) Delete(_ context.Context, key string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken {
		return errors.New("the storage is away")
	}
	delete(o.stored, key)
	return nil
}

func (o *objects) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.stored)
}

// fileFixture is a form with a question for files.
type fileFixture struct {
	*store.Store
	*objects
	t     *testing.T
	owner string
	form  *store.PublicForm
}

const fileSize = 1000

func forEachFileFixture(t *testing.T, test func(t *testing.T, w *fileFixture)) {
	t.Helper()
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		w := &fileFixture{Store: s, objects: &objects{stored: map[string]bool{}}, t: t, owner: addUser(t, s, "ada@example.com").ID}
		s.SetObjects(w.objects)
		w.form = openForm(t, s, w.owner, `{"fields": [{"key": "cv", "kind": "file", "max_files": 5}]}`)
		test(t, w)
	})
}

// upload stores a file and returns its ID.
func (w *fileFixture) upload(at time.Time) string {
	w.t.Helper()
	f := store.File{FormID: w.form.ID, FieldID: w.form.Definition.Field("cv").ID, CreatedAt: at, SHA256: "x", Client: "c"}
	f.File = form.File{ID: id.New(id.File, at), Name: "a.pdf", Size: fileSize, Type: "application/pdf"}
	f.Object = "object of " + f.ID
	w.stored[f.Object] = true
	if err := w.AddFile(ctx, w.owner, f); err != nil {
		w.t.Fatal(err)
	}
	return f.ID
}

// submit stores a response with files.
func (w *fileFixture) submit(at time.Time, files ...string) (form.Response, error) {
	list := make([]any, len(files))
	for i, f := range files {
		list[i] = f
	}
	e, err := w.form.Definition.Validate(map[string]any{"cv": list})
	if err != nil {
		return form.Response{}, err
	}
	return w.SubmitResponse(ctx, store.Submission{Form: w.form, Answers: e.Answers, At: at})
}

func (w *fileFixture) mustSubmit(files ...string) form.Response {
	w.t.Helper()
	r, err := w.submit(time.Now(), files...)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *fileFixture) expectObjects(name string, want int) {
	w.t.Helper()
	if got := w.count(); got != want {
		w.t.Errorf("%s: %d objects, want %d", name, got, want)
	}
}

func (w *fileFixture) usage() int64 {
	w.t.Helper()
	u, err := w.Usage(ctx, w.owner)
	if err != nil {
		w.t.Fatal(err)
	}
	return u.Bytes
}

// An upload that no response has claimed ends after a day; a claimed one does not.
func TestUploadsExpire(t *testing.T) {
	forEachFileFixture(t, func(t *testing.T, w *fileFixture) {
		now := time.Now()
		old, claimed := w.upload(now.Add(-25*time.Hour)), w.upload(now.Add(-23*time.Hour))
		w.upload(now)
		if _, err := w.submit(now, old); fault.Wrap(err).Code != fault.Invalid {
			t.Errorf("an expired file is claimed: %v", err)
		}
		w.mustSubmit(claimed)
		before := w.usage()
		if err := w.SweepFiles(ctx, now); err != nil {
			t.Fatal(err)
		}
		w.expectObjects("after a day", 2)
		if got := before - w.usage(); got != fileSize {
			t.Errorf("the expired file counted for %d bytes", got)
		}
		if err := w.SweepFiles(ctx, now.Add(48*time.Hour)); err != nil {
			t.Fatal(err)
		}
		w.expectObjects("after two days", 1)
	})
}

// Files of deleted responses stay as long as these can be restored, and count as storage.
func TestFilesInTrash(t *testing.T) {
	forEachFileFixture(t, func(t *testing.T, w *fileFixture) {
		now := time.Now()
		empty := w.usage()
		first, second := w.mustSubmit(w.upload(now)), w.mustSubmit(w.upload(now), w.upload(now))
		full := w.usage()
		if full-empty < 3*fileSize {
			t.Errorf("three files count for %d bytes", full-empty)
		}
		ids := []string{first.ID, second.ID}
		if _, err := w.DeleteResponsesWithUndo(ctx, w.owner, w.form.ID, ids, now); err != nil {
			t.Fatal(err)
		}
		w.expectObjects("in the trash", 3)
		if got := w.usage(); got != full {
			t.Errorf("in the trash, %d bytes are used instead of %d", got, full)
		}
		files, err := w.FilesOf(ctx, w.owner, second)
		if err != nil || len(files) != 2 {
			t.Fatalf("%d files (%v)", len(files), err)
		}
		for fileID := range files {
			if _, err := w.File(ctx, w.owner, w.form.ID, fileID); !errors.Is(err, fault.NotFound) {
				t.Errorf("a file in the trash can be read: %v", err)
			}
		}
		if _, err := w.RestoreResponses(ctx, w.owner, w.form.ID, ids[1:], now); err != nil {
			t.Fatal(err)
		}
		for fileID := range files {
			if _, err := w.File(ctx, w.owner, w.form.ID, fileID); err != nil {
				t.Errorf("a restored file: %v", err)
			}
		}
		clean := func(at time.Time) {
			if err := errors.Join(w.Cleanup(ctx, at, time.Hour), w.SweepFiles(ctx, now)); err != nil {
				t.Fatal(err)
			}
		}
		clean(now.Add(2 * time.Hour))
		w.expectObjects("after the trash was emptied", 2)
		if err := w.DeleteForm(ctx, w.owner, w.form.ID, 0, now); err != nil {
			t.Fatal(err)
		}
		w.expectObjects("form in the trash", 2)
		clean(now.Add(2 * time.Hour))
		w.expectObjects("form deleted", 0)
		if got := w.usage(); got != 0 {
			t.Errorf("%d bytes are used by nothing", got)
		}
	})
}

// If the storage is away, deletions succeed, and the objects are deleted later.
func TestDeletionWithoutStorage(t *testing.T) {
	forEachFileFixture(t, func(t *testing.T, w *fileFixture) {
		now := time.Now()
		r := w.mustSubmit(w.upload(now), w.upload(now))
		w.mustSubmit(w.upload(now))
		w.broken = true
		if err := w.DeleteResponse(ctx, w.owner, w.form.ID, r.ID, now); err != nil {
			t.Fatal(err)
		}
		if complete, err := w.DeleteUser(ctx, w.owner, now); err != nil || !complete {
			t.Fatalf("delete the account: %v %v", complete, err)
		}
		w.expectObjects("without the storage", 3)
		if err := w.SweepFiles(ctx, now); err == nil {
			t.Error("no error while the storage is away")
		}
		w.broken = false
		if err := w.SweepFiles(ctx, now); err != nil {
			t.Fatal(err)
		}
		w.expectObjects("with the storage", 0)
		for _, table := range []string{"file", "file_garbage"} {
			rows, err := w.Rows(ctx, 1, "SELECT account_id FROM "+table)
			if err != nil || len(rows) > 0 {
				t.Errorf("%s has %d rows (%v)", table, len(rows), err)
			}
		}
	})
}

// One client cannot fill a form with uploads.
func TestUnclaimedUploadsAreLimited(t *testing.T) {
	forEachFileFixture(t, func(t *testing.T, w *fileFixture) {
		now := time.Now()
		field := w.form.Definition.Field("cv").ID
		err := w.Exec(ctx, `INSERT INTO file (account_id, form_id, id, field_id, name, size, type, sha256, object, client, created_at, expires_at)
			VALUES ($1, $2, 'x', $3, '', 5368709120, '', '', 'x', 'c', 0, 1)`, w.owner, w.form.ID, field)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AllowUpload(ctx, w.owner, w.form.ID, "c"); fault.Wrap(err).Code != fault.RateLimited {
			t.Errorf("the client: %v", err)
		}
		if err := w.AllowUpload(ctx, w.owner, w.form.ID, "d"); err != nil {
			t.Errorf("another client: %v", err)
		}
		f := store.File{FormID: w.form.ID, FieldID: field, CreatedAt: now, Client: "c", Object: fmt.Sprint(now)}
		f.ID = id.New(id.File, now)
		if err := w.AddFile(ctx, w.owner, f); fault.Wrap(err).Code != fault.RateLimited {
			t.Errorf("a file is added: %v", err)
		}
	})
}

// All clients together cannot fill it either.
func TestUploadsOfFormAreLimited(t *testing.T) {
	forEachFileFixture(t, func(t *testing.T, w *fileFixture) {
		err := w.Exec(ctx, `INSERT INTO file (account_id, form_id, id, field_id, name, size, type, sha256, object, client, created_at, expires_at)
			VALUES ($1, $2, 'x', $3, '', 53687091200, '', '', 'x', 'c', 0, 1)`, w.owner, w.form.ID, w.form.Definition.Field("cv").ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AllowUpload(ctx, w.owner, w.form.ID, "d"); fault.Wrap(err).Code != fault.RateLimited {
			t.Errorf("another client: %v", err)
		}
	})
}
