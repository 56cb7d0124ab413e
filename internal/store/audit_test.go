package store_test

import (
	"bytes"
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// auditLog returns the entries of a space, newest first.
func auditLog(t *testing.T, s *store.Store, space string, f store.AuditFilter) []store.AuditEntry {
	t.Helper()
	list, err := s.Audit(ctx, space, f, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// auditFixture is what the actions of a test work on.
type auditFixture struct {
	t         *testing.T
	s         *store.Store
	ada, bob  account.User
	space     string // shared, of Ada
	form      *store.PublicForm
	responses []string
	webhook   store.Webhook
	app       account.Application
	token     account.Secret
	deletion  string // another shared space
}

func newAuditFixture(t *testing.T, s *store.Store) *auditFixture {
	x := &auditFixture{t: t, s: s, ada: addUser(t, s, "ada@example.com"), bob: addUser(t, s, "bob@example.com")}
	x.space, x.deletion = addSpace(t, s, "Team", x.ada), addSpace(t, s, "Old", x.ada)
	x.form = openForm(t, s, x.space, small)
	for i := range 3 {
		r, err := submit(s, x.form, i)
		if err != nil {
			t.Fatal(err)
		}
		x.responses = append(x.responses, r.ID)
	}
	x.webhook = addWebhook(t, s, x.space, x.form.ID)
	x.app = newApp(t, s, x.bob.ID)
	x.token = account.NewSecret(account.PersonalToken, x.ada.ID, time.Now())
	return x
}

func (x *auditFixture) consent(ctx context.Context) error {
	now := time.Now()
	ticket, code := account.NewSecret(account.ConsentRequestKey, x.ada.ID, now), account.NewSecret(account.Code, x.ada.ID, now)
	if err := x.s.AddConsentRequest(ctx, ticket, store.ConsentRequest{AppID: x.app.ID, RedirectURI: redirect, Scopes: x.app.Scopes}, now.Add(time.Hour)); err != nil {
		return err
	}
	_, err := x.s.AllowConsent(ctx, ticket.Ref(), store.Consent{Code: code, Expires: now.Add(time.Hour)}, now)
	return err
}

func (x *auditFixture) update(ctx context.Context, change func(*form.FormInput)) error {
	_, err := x.s.UpdateForm(ctx, x.space, store.FormRevision{ID: x.form.ID}, func(in *form.FormInput) error { change(in); return nil }, time.Now())
	return err
}

func (x *auditFixture) updateWebhook(ctx context.Context, apply func(*store.Webhook)) error {
	_, err := x.s.UpdateWebhook(ctx, x.space, x.webhook.WebhookKey, store.WebhookChange{Apply: func(w *store.Webhook) error { apply(w); return nil }}, time.Now())
	return err
}

// auditStep is something that one entry records.
type auditStep struct {
	action  store.AuditAction
	object  string
	details string // one of them, as name=value
	run     func(context.Context) error
}

// spaceSteps are the actions whose entries are in the shared space, in an order in which all work.
func (x *auditFixture) spaceSteps() []auditStep {
	s, space, now := x.s, x.space, time.Now()
	target := store.FormRevision{ID: x.form.ID}
	ignore := func(_ any, err error) error { return err }
	return []auditStep{
		{store.AuditSpaceRenamed, account.SpaceID(space), "before=Team", func(ctx context.Context) error { return s.RenameSpace(ctx, space, "Crew") }},
		{store.AuditFormShared, x.form.ID, "person=bob@example.com", func(ctx context.Context) error {
			return s.ShareForm(ctx, space, x.form.ID, x.bob.ID, account.Editor, now)
		}},
		{store.AuditFormUnshared, x.form.ID, "person_id=" + x.bob.ID, func(ctx context.Context) error { return s.EndShare(ctx, space, x.form.ID, x.bob.ID, now) }},
		{store.AuditMemberAdded, x.bob.ID, "role=viewer", func(ctx context.Context) error { return s.SetMember(ctx, space, x.bob.ID, account.Viewer, now) }},
		{store.AuditMemberChanged, x.bob.ID, "before=viewer", func(ctx context.Context) error { return s.SetMember(ctx, space, x.bob.ID, account.Editor, now) }},
		{store.AuditMemberRemoved, x.bob.ID, "role=editor", func(ctx context.Context) error { return s.RemoveMember(ctx, space, x.bob.ID, now) }},
		{store.AuditFormClosed, x.form.ID, "", func(ctx context.Context) error { return ignore(s.CloseForm(ctx, space, x.form.ID, 0, now)) }},
		{store.AuditFormOpened, x.form.ID, "", func(ctx context.Context) error { return ignore(s.ReopenForm(ctx, space, x.form.ID, 0, now)) }},
		{store.AuditAvailability, x.form.ID, "response_limit=9", func(ctx context.Context) error {
			return x.update(ctx, func(in *form.FormInput) { in.ResponseLimit = 9 })
		}},
		{store.AuditLinkChanged, x.form.ID, "link=order", func(ctx context.Context) error { return x.update(ctx, func(in *form.FormInput) { in.Slug = "order" }) }},
		{"", "", "", func(ctx context.Context) error {
			return x.update(ctx, func(in *form.FormInput) { in.Title = "Orders" })
		}},
		{store.AuditFormPublished, x.form.ID, "version=2", func(ctx context.Context) error {
			return ignore(s.Publish(ctx, space, target, store.IdempotencyKey{}, now))
		}},
		{"", "", "", func(ctx context.Context) error {
			return ignore(s.Publish(ctx, space, target, store.IdempotencyKey{}, now))
		}},
		{store.AuditRetentionChanged, x.form.ID, "days=30", func(ctx context.Context) error {
			return ignore(s.SetRetention(ctx, space, x.form.ID, store.RetentionChange{Days: 30}, now))
		}},
		{"", "", "", func(ctx context.Context) error {
			return ignore(s.SetRetention(ctx, space, x.form.ID, store.RetentionChange{Days: 30}, now))
		}},
		{store.AuditNotifications, x.form.ID, "when=daily", func(ctx context.Context) error {
			return ignore(s.SetNotifications(ctx, space, x.form.ID, store.NotificationChange{When: store.NotifyDaily}, now))
		}},
		{store.AuditReceiptChanged, x.form.ID, "active=true", func(ctx context.Context) error {
			return s.SetReceipt(ctx, space, x.form.ID, store.ReceiptChange{Receipt: store.Receipt{Active: true}}, now)
		}},
		{store.AuditWebhookChanged, x.webhook.ID, "status=paused", func(ctx context.Context) error {
			return x.updateWebhook(ctx, func(w *store.Webhook) { w.Status = store.WebhookPaused })
		}},
		{store.AuditWebhookRotated, x.webhook.ID, "form=Orders", func(ctx context.Context) error {
			return x.updateWebhook(ctx, func(w *store.Webhook) { w.Secret = "another" })
		}},
		{"", "", "", func(ctx context.Context) error { return x.updateWebhook(ctx, func(*store.Webhook) {}) }},
		{store.AuditWebhookDeleted, x.webhook.ID, "", func(ctx context.Context) error { return s.DeleteWebhook(ctx, space, x.webhook.WebhookKey) }},
		{store.AuditResponsesExported, x.form.ID, "format=csv", func(ctx context.Context) error { return s.RecordExport(ctx, space, x.form.ID, "csv") }},
		{store.AuditFilesDownloaded, x.form.ID, "response_id=" + x.responses[0], func(ctx context.Context) error {
			return s.RecordFiles(ctx, space, form.Response{ID: x.responses[0], FormID: x.form.ID})
		}},
		{store.AuditResponsesDeleted, x.form.ID, "count=2", func(ctx context.Context) error {
			return ignore(s.DeleteResponsesWithUndo(ctx, space, x.form.ID, x.responses[:2], now))
		}},
		{store.AuditResponsesRestored, x.form.ID, "count=2", func(ctx context.Context) error {
			return ignore(s.RestoreResponses(ctx, space, x.form.ID, x.responses[:2], now))
		}},
		{store.AuditResponsesDeleted, x.form.ID, "count=1", func(ctx context.Context) error {
			return s.DeleteResponse(ctx, space, x.form.ID, x.responses[0], now)
		}},
		{store.AuditResponsesDeleted, x.form.ID, "count=2", func(ctx context.Context) error {
			return ignore(s.DeleteResponses(ctx, space, x.form.ID, store.ResponseFilter{}, now))
		}},
		{store.AuditFormDeleted, x.form.ID, "", func(ctx context.Context) error { return s.DeleteForm(ctx, space, x.form.ID, 0, now) }},
		{store.AuditFormRestored, x.form.ID, "", func(ctx context.Context) error { return ignore(s.RestoreForm(ctx, space, x.form.ID, now)) }},
		{store.AuditExported, account.SpaceID(space), "", func(ctx context.Context) error {
			return s.RecordAudit(ctx, space, store.AuditEntry{Action: store.AuditExported, ObjectID: account.SpaceID(space)})
		}},
	}
}

// ownSteps are the actions whose entries are in Ada's own space.
func (x *auditFixture) ownSteps() []auditStep {
	s, now := x.s, time.Now()
	own := account.Application{
		Account: x.ada.ID, ID: id.New(id.App, now), Name: "Own", RedirectURIs: []string{redirect}, Scopes: account.DefaultScopes(), CreatedAt: now,
	}
	return []auditStep{
		{store.AuditGrantCreated, x.app.ID, "forms=all", x.consent},
		{store.AuditGrantEnded, x.app.ID, "", func(ctx context.Context) error { return s.Disconnect(ctx, x.ada.ID, x.app.ID, now) }},
		{store.AuditAppCreated, own.ID, "redirect_uris=" + redirect, func(ctx context.Context) error {
			_, err := s.AddApp(ctx, own, "hash", store.IdempotencyKey{})
			return err
		}},
		{store.AuditAppChanged, own.ID, "scope=forms:read", func(ctx context.Context) error {
			changed := own
			changed.Scopes, _ = account.ParseScopes("forms:read")
			return s.UpdateApp(ctx, changed)
		}},
		{store.AuditAppSecretAdded, own.ID, "", func(ctx context.Context) error { return s.AddSecret(ctx, x.ada.ID, own.ID, "second", now) }},
		{store.AuditAppSecretDeleted, own.ID, "", func(ctx context.Context) error {
			_, secrets, err := s.App(ctx, x.ada.ID, own.ID)
			if err != nil {
				return err
			}
			return s.DeleteSecret(ctx, x.ada.ID, own.ID, secrets[0].ID)
		}},
		{store.AuditAppDisabled, own.ID, "", func(ctx context.Context) error { return s.SetAppDisabled(ctx, x.ada.ID, own.ID, true, now) }},
		{store.AuditAppEnabled, own.ID, "", func(ctx context.Context) error { return s.SetAppDisabled(ctx, x.ada.ID, own.ID, false, now) }},
		{store.AuditAppDeleted, own.ID, "", func(ctx context.Context) error { return s.DeleteApp(ctx, x.ada.ID, own.ID, now) }},
		{store.AuditTokenCreated, x.token.ID, "scope=forms:read", func(ctx context.Context) error {
			scopes, _ := account.ParseScopes("forms:read")
			return s.AddPersonalToken(ctx, x.token, store.PersonalToken{Name: "backup", Scopes: scopes, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}, nil)
		}},
		{store.AuditTokenRevoked, x.token.ID, "", func(ctx context.Context) error { return s.RevokePersonalToken(ctx, x.ada.ID, x.token.ID, now) }},
		{store.AuditAccountDownloaded, x.ada.ID, "", func(ctx context.Context) error {
			return s.RecordAudit(ctx, x.ada.ID, store.AuditEntry{Action: store.AuditAccountDownloaded, ObjectID: x.ada.ID})
		}},
		{store.AuditSpaceDeleted, account.SpaceID(x.deletion), "", func(ctx context.Context) error {
			_, err := s.DeleteSpace(ctx, x.deletion, now)
			return err
		}},
	}
}

// Every action leaves one entry, with who did it, in one space, and changes without an effect
// leave none.
func TestAuditEntries(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		x := newAuditFixture(t, s)
		actors := []store.Actor{
			{Kind: store.ActorPerson, PersonID: x.ada.ID, PersonName: "Ada", Address: netip.MustParseAddr("192.0.2.7")},
			{Kind: store.ActorApplication, PersonID: x.ada.ID, PersonName: "Ada", AppID: x.app.ID, AppName: "App", Address: netip.MustParseAddr("2001:db8::1")},
			{Kind: store.ActorCommandLine},
		}
		all := func() int {
			return len(auditLog(t, s, x.space, store.AuditFilter{})) + len(auditLog(t, s, x.ada.ID, store.AuditFilter{}))
		}
		n := 0
		for space, steps := range map[string][]auditStep{x.space: x.spaceSteps(), x.ada.ID: x.ownSteps()} {
			for _, step := range steps {
				actor := actors[n%len(actors)]
				n++
				before := all()
				if err := step.run(store.WithActor(ctx, actor)); err != nil {
					t.Fatalf("%s: %v", step.action, err)
				}
				want := 1
				if step.action == "" {
					want = 0
				}
				if got := all() - before; got != want {
					t.Errorf("%s: %d entries, want %d", step.action, got, want)
				}
				if want == 0 {
					continue
				}
				e := auditLog(t, s, space, store.AuditFilter{})[0]
				name, value, _ := strings.Cut(step.details, "=")
				if e.Action != step.action || e.ObjectID != step.object || e.Actor != actor || e.Details[name] != value {
					t.Errorf("%s of %s by %v: recorded %+v", step.action, step.object, actor, e)
				}
				if e.ObjectID == x.form.ID && e.ObjectName != "Order" && e.ObjectName != "Orders" {
					t.Errorf("%s: the form is called %q", e.Action, e.ObjectName)
				}
			}
		}
		if e := auditLog(t, s, x.space, store.AuditFilter{}); e[len(e)-1].Action != store.AuditSpaceCreated || e[len(e)-1].Actor.Kind != store.ActorService {
			t.Errorf("the first entry is %+v", e[len(e)-1])
		}
		if list := auditLog(t, s, x.bob.ID, store.AuditFilter{}); len(list) != 1 || list[0].Action != store.AuditAppCreated {
			t.Errorf("another space has %v", list)
		}
	})
}

// What fails leaves no entry, and what the log is asked for is all that it returns.
func TestAuditFilters(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		x := newAuditFixture(t, s)
		as := store.WithActor(ctx, store.Actor{Kind: store.ActorPerson, PersonID: x.ada.ID, PersonName: strings.Repeat("ä", 500)})
		before := len(auditLog(t, s, x.space, store.AuditFilter{}))
		for what, err := range map[string]error{
			"delete":  s.DeleteForm(as, x.space, x.form.ID, 999, time.Now()),
			"unknown": s.DeleteForm(as, x.space, id.New(id.Form, time.Now()), 0, time.Now()),
			"owner":   s.RemoveMember(as, x.space, x.ada.ID, time.Now()),
			"open":    func() error { _, err := s.ReopenForm(as, x.space, x.form.ID, 0, time.Now()); return err }(),
			"webhook": s.DeleteWebhook(as, x.ada.ID, x.webhook.WebhookKey),
			"token":   s.RevokePersonalToken(as, x.ada.ID, x.token.ID, time.Now()),
			"grant":   s.Disconnect(as, x.ada.ID, x.app.ID, time.Now()),
			"app":     s.DeleteApp(as, x.ada.ID, x.app.ID, time.Now()),
			"disable": s.SetAppDisabled(as, x.ada.ID, x.app.ID, true, time.Now()),
		} {
			if err == nil || fault.Wrap(err).Code >= 500_000 {
				t.Errorf("%s: %v", what, err)
			}
		}
		if got := len(auditLog(t, s, x.space, store.AuditFilter{})); got != before {
			t.Errorf("failures left %d entries", got-before)
		}
		for range 3 {
			if err := s.RecordExport(as, x.space, x.form.ID, "csv"); err != nil {
				t.Fatal(err)
			}
		}
		all := auditLog(t, s, x.space, store.AuditFilter{})
		if !slices.IsSortedFunc(all, func(a, b store.AuditEntry) int { return strings.Compare(b.ID, a.ID) }) {
			t.Error("entries are not newest first")
		}
		if name := []rune(all[0].Actor.PersonName); len(name) != 200 {
			t.Errorf("a name has %d characters", len(name))
		}
		for _, c := range []struct {
			filter store.AuditFilter
			want   int
		}{
			{store.AuditFilter{}, before + 3},
			{store.AuditFilter{Action: store.AuditResponsesExported}, 3},
			{store.AuditFilter{PersonID: x.ada.ID}, 3},
			{store.AuditFilter{PersonID: x.bob.ID}, 0},
			{store.AuditFilter{Before: all[2].ID}, before},
			{store.AuditFilter{Since: time.Now().Add(time.Minute)}, 0},
			{store.AuditFilter{Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Minute)}, before + 3},
			{store.AuditFilter{Until: time.Now().Add(-time.Hour)}, 0},
		} {
			if got := len(auditLog(t, s, x.space, c.filter)); got != c.want {
				t.Errorf("%+v finds %d entries, want %d", c.filter, got, c.want)
			}
		}
	})
}

// Old entries and those beyond the limit are deleted, and backups contain the log.
func TestAuditRetention(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com").ID
		for range 1200 {
			if err := s.RecordExport(ctx, ada, "frm_x", "csv"); err != nil {
				t.Fatal(err)
			}
		}
		var backup bytes.Buffer
		if _, err := s.Backup(ctx, &backup); err != nil {
			t.Fatal(err)
		}
		restored, err := store.Connect(ctx, t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer restored.Close()
		if _, err := restored.Restore(ctx, &backup); err != nil || tableRows(t, restored, "audit") != "1200" {
			t.Errorf("restored %s entries, %v", tableRows(t, restored, "audit"), err)
		}
		if err := s.TrimAudit(ctx, ada, 50); err != nil || tableRows(t, s, "audit") != "50" {
			t.Errorf("%s entries are left, %v", tableRows(t, s, "audit"), err)
		}
		if err := s.Cleanup(ctx, time.Now(), grantIdle); err != nil || tableRows(t, s, "audit") != "50" {
			t.Errorf("%s entries are left of a new log, %v", tableRows(t, s, "audit"), err)
		}
		if err := s.Cleanup(ctx, time.Now().Add(store.AuditRetention+time.Hour), grantIdle); err != nil || tableRows(t, s, "audit") != "0" {
			t.Errorf("%s entries are left of an old log, %v", tableRows(t, s, "audit"), err)
		}
	})
}

// Responses that a form does not keep are deleted by the service, with one entry, and submitting
// and reading leave none.
func TestAuditOfRetention(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, ada, small)
		if _, err := s.SetRetention(ctx, ada, f.ID, store.RetentionChange{Days: 1}, time.Now()); err != nil {
			t.Fatal(err)
		}
		before := len(auditLog(t, s, ada, store.AuditFilter{}))
		for i := range 450 {
			if _, err := submit(s, f, i); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := s.Forms(ctx, ada, store.FormFilter{}, "created_at", store.Page{Limit: 10}); err != nil {
			t.Fatal(err)
		}
		if got := len(auditLog(t, s, ada, store.AuditFilter{})); got != before {
			t.Errorf("submitting and reading left %d entries", got-before)
		}
		for _, days := range []int{2, 12, 24} {
			if err := s.ApplyRetention(ctx, time.Now().AddDate(0, 0, days)); err != nil {
				t.Fatal(err)
			}
		}
		list := auditLog(t, s, ada, store.AuditFilter{Action: store.AuditResponsesPurged})
		if len(list) != 1 || list[0].Details["count"] != "450" || list[0].Actor.Kind != store.ActorService {
			t.Errorf("recorded %v", list)
		}
	})
}

// Whoever leaves a space has left it, however they do, and a new password ends grants and tokens.
func TestAuditOfDepartures(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		x, now := newAuditFixture(t, s), time.Now()
		own := store.WithActor(ctx, store.Actor{Kind: store.ActorPerson, PersonID: x.bob.ID, PersonName: "Bob"})
		newest := func(space string) store.AuditEntry { return auditLog(t, s, space, store.AuditFilter{})[0] }
		for _, leave := range []func() error{
			func() error { return s.RemoveMember(own, x.space, x.bob.ID, now) },
			func() error { _, err := s.DeleteUser(own, x.bob.ID, now); return err },
		} {
			if err := s.SetMember(ctx, x.space, x.bob.ID, account.Editor, now); err != nil {
				t.Fatal(err)
			}
			if err := leave(); err != nil {
				t.Fatal(err)
			}
			if e := newest(x.space); e.Action != store.AuditMemberLeft || e.ObjectID != x.bob.ID || e.ObjectName != "bob@example.com" || e.Actor.PersonName != "Bob" {
				t.Errorf("recorded %+v", e)
			}
		}
		x.app = newApp(t, s, x.ada.ID)
		for range 2 { // of one application
			if err := x.consent(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.AddPersonalToken(ctx, x.token, store.PersonalToken{Name: "backup", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}, nil); err != nil {
			t.Fatal(err)
		}
		before := len(auditLog(t, s, x.ada.ID, store.AuditFilter{}))
		if err := s.SetPassword(ctx, store.PasswordChange{Owner: x.ada.ID, Hash: "another"}, now); err != nil {
			t.Fatal(err)
		}
		list := auditLog(t, s, x.ada.ID, store.AuditFilter{})
		if len(list) != before+2 || list[0].Action != store.AuditTokenRevoked || list[0].ObjectName != "backup" || list[1].Action != store.AuditGrantEnded || list[1].ObjectName != "App" {
			t.Errorf("a new password left %+v", list[:len(list)-before])
		}
	})
}
