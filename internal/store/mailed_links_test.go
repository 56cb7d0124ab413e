package store_test

import (
	"fmt"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

func newLink(owner, email string, expires time.Time) store.MailedLink {
	now := time.Now()
	return store.MailedLink{
		Secret: account.NewSecret(account.OneTimeLinkKey, owner, now), Email: email, Expires: expires,
		Mail: store.Mail{ID: id.New(id.Mail, now), Kind: "test", Recipient: email, Language: "en", Data: "{}", CreatedAt: now},
	}
}

// A link for an address that no user has leaves no mail, and works for nobody.
func TestResetLinkOfNobody(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com")
		now := time.Now()
		mine, nobodys := newLink(ada.ID, ada.Email, now.Add(time.Hour)), newLink(store.NoOwner, "eve@example.com", now.Add(time.Hour))
		for _, l := range []store.MailedLink{mine, nobodys, newLink(store.NoOwner, "x@example.com", now.Add(time.Hour))} {
			if err := s.MailResetLink(ctx, l); err != nil {
				t.Fatal(err)
			}
		}
		if n := tableRows(t, s, "mail"); n != "1" {
			t.Errorf("%s mails", n)
		}
		if n := tableRows(t, s, "link"); n != "2" {
			t.Errorf("%s links", n)
		}
		if _, err := s.CheckResetLink(ctx, mine.Secret.Text, now); err != nil {
			t.Error(err)
		}
		if _, err := s.CheckResetLink(ctx, mine.Secret.Text, now.Add(time.Hour)); fault.Wrap(err).Code != fault.BadRequest {
			t.Errorf("after its time: %v", err)
		}
		if err := s.ResetPassword(ctx, nobodys.Secret.Text, "hash", nil, now); err == nil {
			t.Error("a link of nobody sets a password")
		}
	})
}

// A mailed reset link confirms the address that it was sent to; one that an administrator has
// handed over does not.
func TestResetLinkConfirms(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		addUser(t, s, "operator@example.com")
		now := time.Now()
		bob := addUser(t, s, "bob@example.com")
		link, err := s.NewResetLink(ctx, bob.ID, now, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		mailed := newLink(bob.ID, "BOB@example.com", now.Add(time.Hour))
		for i, use := range []func() string{
			func() string { return link },
			func() string {
				if err := s.MailResetLink(ctx, mailed); err != nil {
					t.Fatal(err)
				}
				return mailed.Secret.Text
			},
		} {
			if err := s.ResetPassword(ctx, use(), "hash", nil, now); err != nil {
				t.Fatal(err)
			}
			if user, err := s.User(ctx, bob.ID); err != nil || user.IsEmailVerified() != (i == 1) {
				t.Errorf("link %d: confirmed %v (%v)", i, user.IsEmailVerified(), err)
			}
		}
	})
}

// Notifications of the user's own forms go to the new address, once it is confirmed.
func TestChangedAddressOfRecipient(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com")
		first, second := openForm(t, s, ada.ID, textForm), openForm(t, s, ada.ID, textForm)
		notify(t, s, first, store.NotifyEach, "ada@example.com")
		notify(t, s, second, store.NotifyEach, "ada@example.com", "ada@new.example")
		check := func(want string) {
			t.Helper()
			for _, f := range []*store.PublicForm{first, second} {
				n, err := s.Notifications(ctx, ada.ID, f.ID)
				if got := fmt.Sprint(states(n)); err != nil || got != want {
					t.Errorf("%s, want %s (%v)", got, want, err)
				}
			}
		}
		if err := s.SetEmail(ctx, store.EmailChange{Owner: ada.ID, Email: "ada@new.example"}); err != nil {
			t.Fatal(err)
		}
		check("[ada@new.example false]")
		l := newLink(ada.ID, "ada@new.example", time.Now().Add(time.Hour))
		if err := s.MailEmailLink(ctx, l); err != nil {
			t.Fatal(err)
		}
		if err := s.ConfirmEmail(ctx, l.Secret.Text, nil, time.Now()); err != nil {
			t.Fatal(err)
		}
		check("[ada@new.example true]")
	})
}

// So do those of forms in spaces that the user is in, also as a guest, but of no others.
func TestChangedAddressInSpaces(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		var forms []*store.PublicForm
		for _, owner := range []string{addSpace(t, s, "Team", bob), bob.ID, addSpace(t, s, "Other", bob)} {
			f := openForm(t, s, owner, textForm)
			forms = append(forms, f)
			n := notify(t, s, f, store.NotifyEach, "ada@example.com", "cy@example.org")
			if err := s.ConfirmRecipient(ctx, store.LinkOf(owner, f.ID, n.Recipients[0]).String(), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.SetMember(ctx, forms[0].Owner, ada.ID, account.Viewer, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.ShareForm(ctx, bob.ID, forms[1].ID, ada.ID, account.Viewer, time.Now()); err != nil {
			t.Fatal(err)
		}
		check := func(want ...string) {
			t.Helper()
			for i, f := range forms {
				n, err := s.Notifications(ctx, f.Owner, f.ID)
				if got := fmt.Sprint(states(n)); err != nil || got != "["+want[i]+" cy@example.org false]" {
					t.Errorf("%s, want %s (%v)", got, want[i], err)
				}
			}
		}
		check("ada@example.com true", "ada@example.com true", "ada@example.com true")
		if err := s.SetEmail(ctx, store.EmailChange{Owner: ada.ID, Email: "ada@new.example", VerifiedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		check("ada@new.example true", "ada@new.example true", "ada@example.com true")
		if err := s.SetEmail(ctx, store.EmailChange{Owner: ada.ID, Email: "ada@third.example"}); err != nil {
			t.Fatal(err)
		}
		check("ada@third.example false", "ada@third.example false", "ada@example.com true")
	})
}

// One more failed request does not announce again that a webhook is disabled.
func TestWebhookDisabledOnce(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com")
		f := openForm(t, s, ada.ID, textForm)
		hook, _, err := s.AddWebhook(ctx, ada.ID, store.Webhook{
			WebhookKey: store.WebhookKey{FormID: f.ID, ID: id.New(id.Webhook, time.Now())}, URL: "https://hooks.example.net/x", Events: store.EventKinds, Status: store.WebhookActive,
		}, store.IdempotencyKey{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			c := store.DeliveryCommit{Key: hook.WebhookKey, From: hook.Position, Position: hook.Position, Disable: "It is gone.", At: time.Now()}
			if err := s.CommitDeliveries(ctx, ada.ID, c); err != nil {
				t.Fatal(err)
			}
		}
		if n, _, err := s.WaitingMails(ctx, ada.ID); err != nil || n != 1 {
			t.Errorf("%d mails (%v)", n, err)
		}
		if w, err := s.Webhook(ctx, ada.ID, hook.WebhookKey); err != nil || w.Status != store.WebhookDisabled || w.DisabledReason != "It is gone." {
			t.Errorf("%+v (%v)", w, err)
		}
	})
}
