package store_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

func moveForm(t *testing.T, s *store.Store, from, formID, to string) {
	t.Helper()
	if err := s.StartMove(ctx, from, formID, to, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := s.ContinueMoves(ctx, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Form(ctx, to, formID); err != nil {
		t.Fatalf("after the move: %v", err)
	}
}

// Pictures that no other form uses move too; others are copied.
func TestMovePictures(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		objects := &objects{stored: map[string]bool{}}
		s.SetObjects(objects)
		ada := addUser(t, s, "ada@example.com")
		space := addSpace(t, s, "Team", ada)
		picture := func() string {
			p := store.Picture{ID: id.New(id.File, time.Now()), Name: "a.png", Size: 3, Type: "image/png", SHA256: "x", Width: 1, Height: 1, CreatedAt: time.Now()}
			p.Object = "object of " + p.ID
			objects.stored[p.Object] = true
			if err := s.AddPicture(ctx, ada.ID, p); err != nil {
				t.Fatal(err)
			}
			return p.ID
		}
		own, shared := picture(), picture()
		const questions = `"fields": [{"key": "n", "kind": "number"}]`
		moved := openForm(t, s, ada.ID, `{"design": {"logo": "`+own+`", "cover": "`+shared+`"}, `+questions+`}`)
		stays := openForm(t, s, ada.ID, `{"design": {"cover": "`+shared+`"}, `+questions+`}`)
		moveForm(t, s, ada.ID, moved.ID, space)
		d, err := s.Draft(ctx, space, moved.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d.Design.Logo != own || d.Design.Cover == shared || d.Design.Cover == "" {
			t.Errorf("pictures after the move: %+v", d.Design)
		}
		if live, err := s.Definition(ctx, space, moved.ID, 1); err != nil || live.Design != d.Design {
			t.Errorf("pictures of the live version: %+v, %v", live, err)
		}
		// Publishing checks that the pictures are the owner's.
		for owner, formID := range map[string]string{space: moved.ID, ada.ID: stays.ID} {
			if _, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: formID}, func(p *form.FormInput) error { p.Title = "New"; return nil }, time.Now()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Publish(ctx, owner, store.FormRevision{ID: formID}, store.IdempotencyKey{}, time.Now()); err != nil {
				t.Error(err)
			}
		}
		if objects.count() != 3 {
			t.Errorf("%d objects", objects.count())
		}
	})
}

// Webhooks of applications are paused, a quota of the target refuses the move, and lists and
// links know the form in its new space.
func TestMoveDetails(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		space := addSpace(t, s, "Team", ada)
		p := openForm(t, s, ada.ID, small)
		w, _, err := s.AddWebhook(ctx, ada.ID, store.Webhook{
			WebhookKey: store.WebhookKey{FormID: p.ID, ID: id.New(id.Webhook, time.Now())}, URL: "https://example.com/", Secret: "sealed",
			Events: store.EventKinds, Status: store.WebhookActive, AppID: "app_x", GrantID: "g",
		}, store.IdempotencyKey{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.ShareForm(ctx, ada.ID, p.ID, bob.ID, "editor", time.Now()); err != nil {
			t.Fatal(err)
		}
		n := notify(t, s, p, store.NotifyEach, "cy@example.org")
		link := store.LinkOf(ada.ID, p.ID, n.Recipients[0]).String()
		for i := range 130 { // newer forms than the one that arrives
			mustForm(t, s, space, fmt.Sprint("New ", i))
		}
		s.SetQuotas(store.Quotas{Forms: 130})
		if err := s.StartMove(ctx, ada.ID, p.ID, space, time.Now()); fault.Wrap(err).Code != fault.QuotaReached {
			t.Errorf("over the quota: %v", err)
		}
		s.SetQuotas(store.Quotas{})
		if _, err := s.Form(ctx, ada.ID, p.ID); err != nil {
			t.Errorf("after a refused move: %v", err)
		}
		moveForm(t, s, ada.ID, p.ID, space)
		if got, err := s.Webhook(ctx, space, w.WebhookKey); err != nil || got.Status != store.WebhookPaused {
			t.Errorf("the webhook of an application: %s, %v", got.Status, err)
		}
		if got := roleOf(t, s, bob, ada.ID); got != "" {
			t.Errorf("bob is still %s", got)
		}
		if found, _, title, err := s.RecipientByLink(ctx, link); err != nil || found.Owner != space || title != "Order" {
			t.Errorf("the link of a recipient: %+v, %v", found, err)
		}
		list, total, err := s.Forms(ctx, space, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 10, Offset: 128})
		if err != nil || total != 131 || len(list) != 3 || list[2].ID != p.ID {
			t.Errorf("forms: %v of %d, %v", list, total, err)
		}
		// Newer forms get IDs that sort after all others.
		newest := mustForm(t, s, space, "Newest")
		if list, _, err = s.Forms(ctx, space, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 1}); err != nil || list[0].ID != newest {
			t.Errorf("newest: %v, %v", list, err)
		}
	})
}

// The time at which a form was closed stays the same when the form is moved, deleted and restored,
// and in backups.
func TestClosedAtStays(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com")
		space := addSpace(t, s, "Team", ada)
		p := openForm(t, s, ada.ID, small)
		closed := time.Now().Add(-48 * time.Hour).UTC().Truncate(time.Millisecond)
		if _, err := s.CloseForm(ctx, ada.ID, p.ID, 0, closed); err != nil {
			t.Fatal(err)
		}
		check := func(s *store.Store, when string) {
			t.Helper()
			if got, err := s.PublicForm(ctx, p.ID); err != nil || !got.ClosedAt.Equal(closed) {
				t.Errorf("%s: closed at %v, want %v (%v)", when, got.ClosedAt, closed, err)
			}
		}
		check(s, "before")
		moveForm(t, s, ada.ID, p.ID, space)
		check(s, "moved")
		if err := s.DeleteForm(ctx, space, p.ID, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RestoreForm(ctx, space, p.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		check(s, "restored")
		var backup bytes.Buffer
		if _, err := s.Backup(ctx, &backup); err != nil {
			t.Fatal(err)
		}
		other := storetest.Open(t, storetest.SQLite(t))
		if _, err := other.Restore(ctx, &backup); err != nil {
			t.Fatal(err)
		}
		check(other, "from a backup")
	})
}
