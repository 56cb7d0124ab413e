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

// confirmation is the mail that asks for a confirmation.
func confirmation(link store.RecipientLink) (store.Mail, error) {
	now := time.Now()
	return store.Mail{ID: id.New(id.Mail, now), Kind: "confirm", FormID: link.FormID, Recipient: link.Email, Language: "en", Data: link.String(), CreatedAt: now}, nil
}

func notify(t *testing.T, s *store.Store, f *store.PublicForm, when store.Frequency, to ...string) store.Notifications {
	t.Helper()
	n, err := s.SetNotifications(ctx, f.Owner, f.ID, store.NotificationChange{When: when, To: to, Confirm: confirmation}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// states describes the recipients of notifications.
func states(n store.Notifications) (list []string) {
	for _, r := range n.Recipients {
		list = append(list, fmt.Sprintf("%s %v", r.Email, r.Receives()))
	}
	return list
}

// The owner's confirmed address needs no confirmation; others confirm first, and can
// unsubscribe.
func TestRecipients(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID // the first one is the administrator
		f := openForm(t, s, owner, textForm)
		if n, err := s.Notifications(ctx, owner, f.ID); err != nil || n.When != store.NotifyOff || n.Recipients != nil {
			t.Errorf("at first: %+v (%v)", n, err)
		}
		n := notify(t, s, f, store.NotifyEach, "Ada@example.com", "bob@example.org")
		if got := fmt.Sprint(states(n)); got != "[Ada@example.com true bob@example.org false]" {
			t.Errorf("recipients: %s", got)
		}
		mails, err := s.DueMails(ctx, owner, time.Now(), 10)
		if err != nil || len(mails) != 1 || mails[0].Recipient != "bob@example.org" {
			t.Fatalf("asked to confirm: %+v (%v)", mails, err)
		}
		link := mails[0].Data
		if _, r, title, err := s.RecipientByLink(ctx, link); err != nil || r.Email != "bob@example.org" || title == "" {
			t.Errorf("%+v %q (%v)", r, title, err)
		}
		for _, wrong := range []string{"", "fmn_", link[:len(link)-1], link + "x", link[:len(link)-22] + "AAAAAAAAAAAAAAAAAAAAAA", "fmn_." + link} {
			if err := s.ConfirmRecipient(ctx, wrong, time.Now()); fault.Wrap(err).Code != fault.BadRequest {
				t.Errorf("confirmed with %q: %v", wrong, err)
			}
		}
		check := func(want string) {
			t.Helper()
			n, err := s.Notifications(ctx, owner, f.ID)
			if got := fmt.Sprint(states(n)); err != nil || got != want {
				t.Errorf("recipients: %s, want %s (%v)", got, want, err)
			}
		}
		if err := s.ConfirmRecipient(ctx, link, time.Now()); err != nil {
			t.Fatal(err)
		}
		check("[Ada@example.com true bob@example.org true]")
		for range 2 {
			if err := s.Unsubscribe(ctx, link, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		check("[Ada@example.com true bob@example.org false]")
		// Without the address, the owner still sees who unsubscribed. Adding it asks again.
		notify(t, s, f, store.NotifyDaily, "ada@example.com")
		check("[Ada@example.com true bob@example.org false]")
		notify(t, s, f, store.NotifyDaily, "bob@example.org")
		check("[bob@example.org false]")
		if err := s.ConfirmRecipient(ctx, link, time.Now()); fault.Wrap(err).Code != fault.BadRequest {
			t.Errorf("confirmed with the earlier link: %v", err)
		}
		// An account asks an address a few times at most.
		var refused error
		for range 2 * store.MailsPerHour {
			notify(t, s, f, store.NotifyDaily)
			_, err := s.SetNotifications(ctx, owner, f.ID, store.NotificationChange{When: store.NotifyDaily, To: []string{"bob@example.org"}, Confirm: confirmation}, time.Now())
			if err != nil {
				refused = err
				break
			}
		}
		if fault.Wrap(refused).Code != fault.RateLimited {
			t.Errorf("asked too often: %v", refused)
		}
		if n, err := s.DueMails(ctx, owner, time.Now(), 100); err != nil || len(n) != store.MailsPerHour {
			t.Errorf("%d mails (%v)", len(n), err)
		}
	})
}

// An address that nobody has confirmed is treated as somebody else's.
func TestUnverifiedOwner(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		addUser(t, s, "ada@example.com")
		owner := addUser(t, s, "eve@example.com").ID
		f := openForm(t, s, owner, textForm)
		n := notify(t, s, f, store.NotifyEach, "eve@example.com")
		if got := fmt.Sprint(states(n)); got != "[eve@example.com false]" {
			t.Errorf("recipients: %s", got)
		}
	})
}

// An address gets at most a few receipts of a form in an hour, whatever the letter case.
func TestReceiptLimit(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f, other := openForm(t, s, owner, textForm), openForm(t, s, owner, textForm)
		now := time.Now()
		commit := func(f *store.PublicForm, at time.Time, addresses ...string) {
			t.Helper()
			if err := s.SetReceipt(ctx, owner, f.ID, store.ReceiptChange{Receipt: store.Receipt{Active: true, Field: "text"}}, at); err != nil {
				t.Fatal(err)
			}
			list, err := s.FormMails(ctx, owner)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				if m.FormID != f.ID {
					continue
				}
				c := store.FormMailCommit{FormID: f.ID, From: m.Position, Position: id.New("", at)}
				for _, address := range addresses {
					c.Receipts = append(c.Receipts, store.Mail{ID: id.New(id.Mail, at), Kind: "receipt", FormID: f.ID, Recipient: address, CreatedAt: at})
				}
				if _, err := s.CommitFormMails(ctx, owner, c, at); err != nil {
					t.Fatal(err)
				}
				if _, err := s.CommitFormMails(ctx, owner, c, at); err == nil {
					t.Error("committed twice from the same position")
				}
			}
		}
		for n := range 10 {
			commit(f, now.Add(time.Duration(n)*time.Second), "victim@example.org", "Victim@example.org", "VICTIM@EXAMPLE.ORG")
		}
		commit(f, now.Add(time.Minute), "another@example.org")
		commit(other, now.Add(time.Minute), "victim@example.org")
		commit(f, now.Add(2*time.Hour), "victim@example.org")
		mails, err := s.DueMails(ctx, owner, now.Add(3*time.Hour), 100)
		got := map[string]int{}
		for _, m := range mails {
			got[account.EmailKey(m.Recipient)]++
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(map[string]int{"victim@example.org": store.MailsPerHour + 2, "another@example.org": 1}) {
			t.Errorf("receipts: %v (%v)", got, err)
		}
	})
}

// A user who is deleted is in no list of recipients any more. What belongs to the account
// disappears with it.
func TestForgetAddress(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner, other := addUser(t, s, "ada@example.com").ID, addUser(t, s, "bob@example.com").ID
		f, own := openForm(t, s, owner, textForm), openForm(t, s, other, textForm)
		notify(t, s, f, store.NotifyEach, "Bob@example.com", "eve@example.com")
		notify(t, s, own, store.NotifyEach, "bob@example.com", "eve@example.com")
		if complete, err := s.DeleteUser(ctx, other, time.Now()); err != nil || !complete {
			t.Fatal(complete, err)
		}
		n, err := s.Notifications(ctx, owner, f.ID)
		if got := fmt.Sprint(states(n)); err != nil || got != "[eve@example.com false]" {
			t.Errorf("recipients: %s (%v)", got, err)
		}
		for table, want := range map[string]string{"mail": "1", "form_recipient": "1", "form_mail": "1"} {
			if n := tableRows(t, s, table); n != want {
				t.Errorf("%s rows of %s are left", n, table)
			}
		}
	})
}
