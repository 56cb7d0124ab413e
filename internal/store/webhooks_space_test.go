package store_test

import (
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// allow stores a consent as if the user had allowed it, exchanges the code and returns the tokens.
func allow(t *testing.T, s *store.Store, person string, app account.Application, limits store.GrantLimits, now time.Time) (access, refresh account.SecretRef) {
	t.Helper()
	choice, err := s.GrantChoice(ctx, person, limits)
	if err != nil {
		t.Fatal(err)
	}
	ticket := account.NewSecret(account.ConsentRequestKey, person, now)
	request := store.ConsentRequest{AppID: app.ID, RedirectURI: app.RedirectURIs[0], Scopes: account.DefaultScopes()}
	if err := s.AddConsentRequest(ctx, ticket, request, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	code := account.NewSecret(account.Code, person, now)
	if _, err := s.AllowConsent(ctx, ticket.Ref(), store.Consent{Code: code, Expires: now.Add(time.Hour), Choice: choice}, now); err != nil {
		t.Fatal(err)
	}
	exchange := store.CodeExchange{
		Code: code.Ref(), AppID: app.ID, RedirectURI: app.RedirectURIs[0], ExpiresAt: now.Add(time.Hour),
		Access: account.NewSecret(account.AccessToken, person, now), Refresh: account.NewSecret(account.RefreshToken, person, now),
	}
	if _, err := s.ExchangeCode(ctx, exchange, now); err != nil {
		t.Fatal(err)
	}
	return exchange.Access.Ref(), exchange.Refresh.Ref()
}

// Webhooks in a shared space end with the grant that created them, which is stored with its user:
// whatever ends the grant, and also if the process was killed before it could pause them.
func TestEndedGrantPausesWebhooksOfSpaces(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		now := time.Now()
		longAgo := now.Add(-grantIdle - time.Hour)
		type granted struct {
			person, space, grant string
			app                  account.Application
			access, refresh      account.SecretRef
			form, other          string
		}
		narrow := func(g granted, limits store.GrantLimits) error {
			limits.Space = g.space
			choice, err := s.GrantChoice(ctx, g.person, limits)
			if err != nil {
				return err
			}
			return s.NarrowGrant(ctx, g.person, g.grant, choice, now)
		}
		for name, c := range map[string]struct {
			at   time.Time
			end  func(g granted) error
			want store.WebhookStatus
		}{
			"revoked":      {now, func(g granted) error { return s.RevokeRefresh(ctx, g.refresh, g.app.ID, now) }, "paused"},
			"disconnected": {now, func(g granted) error { return s.Disconnect(ctx, g.person, g.app.ID, now) }, "paused"},
			"one grant":    {now, func(g granted) error { return s.EndGrant(ctx, g.person, g.grant, now) }, "paused"},
			"password reset": {now, func(g granted) error {
				return s.SetPassword(ctx, store.PasswordChange{Owner: g.person, Hash: "another"}, now)
			}, "paused"},
			"left the space": {now, func(g granted) error { return s.RemoveMember(ctx, g.space, g.person, now) }, "paused"},
			"narrowed": {now, func(g granted) error {
				return narrow(g, store.GrantLimits{SomeForms: true, Forms: []string{g.other}})
			}, "paused"},
			"narrowed to its form": {now, func(g granted) error {
				return narrow(g, store.GrantLimits{SomeForms: true, Forms: []string{g.form}})
			}, "active"},
			"the end date": {now, func(g granted) error {
				if err := narrow(g, store.GrantLimits{Ends: now.Add(time.Minute)}); err != nil {
					return err
				}
				return s.EndExpiredGrants(ctx, now.Add(time.Minute))
			}, "paused"},
			"before the end date": {now, func(g granted) error {
				if err := narrow(g, store.GrantLimits{Ends: now.Add(time.Minute)}); err != nil {
					return err
				}
				return s.EndExpiredGrants(ctx, now.Add(59*time.Second))
			}, "active"},
			"not used for too long": {longAgo, func(g granted) error { return s.Cleanup(ctx, now, grantIdle) }, "paused"},
			"used just in time":     {longAgo.Add(2 * time.Hour), func(g granted) error { return s.Cleanup(ctx, now, grantIdle) }, "active"},
			"killed in between": {now, func(g granted) error {
				if err := s.Exec(ctx, "UPDATE consent SET ended_at = $3 WHERE account_id = $1 AND id = $2", g.person, g.grant, now.UnixMilli()); err != nil {
					return err
				}
				return s.Cleanup(ctx, now, grantIdle)
			}, "paused"},
		} {
			ada, bob := addUser(t, s, id.New("u", now)+"@example.com"), addUser(t, s, id.New("u", now)+"@example.com")
			g := granted{person: bob.ID, space: addSpace(t, s, "Team", ada), app: newApp(t, s, ada.ID)}
			if err := s.SetMember(ctx, g.space, bob.ID, account.Editor, now); err != nil {
				t.Fatal(err)
			}
			g.form, g.other = mustForm(t, s, g.space, "One"), mustForm(t, s, g.space, "Two")
			g.access, g.refresh = allow(t, s, bob.ID, g.app, store.GrantLimits{Space: g.space}, c.at)
			token, err := s.AccessToken(ctx, g.access)
			if err != nil || token.Access.Space != g.space {
				t.Fatalf("%s: %+v, %v", name, token.Access, err)
			}
			g.grant = token.GrantID
			add := func(grant string) store.Webhook {
				w := store.Webhook{
					WebhookKey: store.WebhookKey{FormID: g.form, ID: id.New(id.Webhook, time.Now())}, URL: "https://example.com/", Secret: "sealed",
					Events: store.EventKinds, Status: store.WebhookActive,
				}
				if grant != "" {
					w.AppID, w.GrantID, w.PersonID = g.app.ID, grant, bob.ID
				}
				w, _, err := s.AddWebhook(ctx, g.space, w, store.IdempotencyKey{}, now)
				if err != nil {
					t.Fatal(err)
				}
				return w
			}
			hook, own := add(g.grant), add("")
			if err := c.end(g); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			status := func(w store.Webhook) store.Webhook {
				got, err := s.Webhook(ctx, g.space, w.WebhookKey)
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			if got := status(hook); got.Status != c.want || got.PersonID != bob.ID {
				t.Errorf("%s: it is %s, want %s", name, got.Status, c.want)
			}
			if got := status(own); got.Status != store.WebhookActive {
				t.Errorf("%s: the owner's webhook is %s", name, got.Status)
			}
			// A member who activates a webhook whose grant has ended takes it over.
			if c.want == store.WebhookPaused {
				resume := func(w *store.Webhook) error { w.Status = store.WebhookActive; return nil }
				if _, err := s.UpdateWebhook(ctx, g.space, hook.WebhookKey, store.WebhookChange{Apply: resume}, now.Add(2*time.Minute)); err != nil {
					t.Fatal(err)
				}
				if got := status(hook); got.GrantID != "" || got.PersonID != "" || got.Status != store.WebhookActive {
					t.Errorf("%s: resumed as %+v", name, got)
				}
			}
		}
	})
}

// Somebody who is removed from a space while they allow an application has no grant afterwards,
// also if they become a member again.
func TestConsentBesideRemoval(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		other := storetest.Open(t, storage)
		ada, bob := addUser(t, s, "ada@example.com"), addUser(t, s, "bob@example.com")
		app, space := newApp(t, s, ada.ID), addSpace(t, s, "Team", ada)
		for range 5 {
			now := time.Now()
			if err := s.SetMember(ctx, space, bob.ID, account.Editor, now); err != nil {
				t.Fatal(err)
			}
			choice, err := s.GrantChoice(ctx, bob.ID, store.GrantLimits{Space: space})
			if err != nil {
				t.Fatal(err)
			}
			ticket, code := account.NewSecret(account.ConsentRequestKey, bob.ID, now), account.NewSecret(account.Code, bob.ID, now)
			if err := s.AddConsentRequest(ctx, ticket, store.ConsentRequest{AppID: app.ID, RedirectURI: "https://x.example/", Scopes: account.DefaultScopes()}, now.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			removed := make(chan error)
			go func() { removed <- other.RemoveMember(ctx, space, bob.ID, now) }()
			_, allowErr := s.AllowConsent(ctx, ticket.Ref(), store.Consent{Code: code, Expires: now.Add(time.Hour), Choice: choice}, now)
			if err := <-removed; err != nil {
				t.Fatal(err)
			}
			if err := s.SetMember(ctx, space, bob.ID, account.Editor, now); err != nil {
				t.Fatal(err)
			}
			list, err := s.Grants(ctx, bob.ID, store.LiveGrants{Now: now})
			if err != nil || len(list) != 0 {
				t.Fatalf("%d grants are left after %v (%v)", len(list), allowErr, err)
			}
		}
	})
}
