// Package delivery delivers the events of forms to webhooks. Each webhook is a reader of its
// form's events with a position: submissions pay nothing for it, and a receiver that was down
// for a week continues where it stopped. Deliveries are made at least once, and their IDs tell
// repetitions.
package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/webhook"
)

// Config holds the dependencies of a Service and of a Dispatcher.
type Config struct {
	Store   *store.Store
	Client  *webhook.Client
	Allowed webhook.Allowed
	Sealer  *account.Sealer // encrypts secrets; nil: there is no key
	Log     *slog.Logger
	Now     func() time.Time
	// BaseURL is the address of the service, for the addresses of files.
	BaseURL string
	// Connections is how many requests may be in flight at a time; 0: the default.
	Connections int
	// Schedule replaces the times between attempts, for tests; nil: they are Schedule.
	Schedule []time.Duration
}

func (c *Config) schedule() []time.Duration {
	if c.Schedule != nil {
		return c.Schedule
	}
	return Schedule
}

// Service manages webhooks.
type Service struct {
	Config
	mu    sync.Mutex
	tests map[string]int // that are running, by owner
}

// New returns a Service.
func New(c Config) *Service { return &Service{Config: c, tests: map[string]int{}} }

// oldSecretLife is how long the previous secret signs too.
const oldSecretLife = 24 * time.Hour

var errNoKey = fault.New(fault.Internal, "Webhooks are not set up: the administrator must set FORMULARY_SECRET_KEY.")

// Create adds a webhook and returns its secret. A repeated key returns the webhook that the
// first request created, without the secret.
func (s *Service) Create(ctx context.Context, owner string, w store.Webhook, once store.IdempotencyKey) (_ store.Webhook, secret string, err error) {
	if s.Sealer == nil {
		return w, "", errNoKey
	}
	if err := s.Allowed.Check(ctx, w.URL); err != nil {
		return w, "", err
	}
	now := s.Now()
	w.ID = id.New(id.Webhook, now)
	secret = webhook.NewSecret().String()
	w.Secret = s.Sealer.Seal(secret, w.ID)
	made, repeated, err := s.Store.AddWebhook(ctx, owner, w, once, now)
	if err != nil || repeated {
		secret = ""
	}
	return made, secret, err
}

// Update changes a webhook for its owner.
func (s *Service) Update(ctx context.Context, owner string, key store.WebhookKey, change func(*store.Webhook)) (store.Webhook, error) {
	return s.UpdateFor(ctx, owner, key, store.WebhookChange{Apply: func(w *store.Webhook) error {
		change(w)
		return nil
	}})
}

// UpdateFor changes a webhook for its owner or for an application.
func (s *Service) UpdateFor(ctx context.Context, owner string, key store.WebhookKey, change store.WebhookChange) (store.Webhook, error) {
	before, err := s.Store.Webhook(ctx, owner, key)
	if err != nil {
		return before, err
	}
	after := before
	if err := change.Apply(&after); err != nil {
		return before, err
	}
	if after.URL != before.URL {
		if err := s.Allowed.Check(ctx, after.URL); err != nil {
			return before, err
		}
	}
	return s.Store.UpdateWebhook(ctx, owner, key, change, s.Now())
}

// Rotate gives a webhook another secret and returns it. The last one signs too for a day.
func (s *Service) Rotate(ctx context.Context, owner string, key store.WebhookKey) (_ store.Webhook, secret string, err error) {
	if s.Sealer == nil {
		return store.Webhook{}, "", errNoKey
	}
	secret = webhook.NewSecret().String()
	now := s.Now()
	w, err := s.Store.UpdateWebhook(ctx, owner, key, store.WebhookChange{Apply: func(w *store.Webhook) error {
		w.OldSecret, w.OldSecretUntil = w.Secret, now.Add(oldSecretLife)
		// After a restore without the key nobody can sign with the last one.
		if _, err := s.Sealer.Open(w.Secret, w.ID); err != nil {
			w.OldSecret, w.OldSecretUntil = "", time.Time{}
		}
		w.Secret = s.Sealer.Seal(secret, w.ID)
		return nil
	}}, now)
	return w, secret, err
}

// secretsOf returns the secrets that sign at a time.
func (c *Config) secretsOf(w store.Webhook, now time.Time) ([]webhook.Secret, error) {
	if c.Sealer == nil {
		return nil, errNoKey
	}
	sealed := []string{w.Secret}
	if w.OldSecret != "" && now.Before(w.OldSecretUntil) {
		sealed = append(sealed, w.OldSecret)
	}
	secrets := make([]webhook.Secret, len(sealed))
	for i, text := range sealed {
		opened, err := c.Sealer.Open(text, w.ID)
		if err != nil {
			return nil, fmt.Errorf("open secret of %s: %w", w.ID, err)
		}
		if secrets[i], err = webhook.ParseSecret(opened); err != nil {
			return nil, fmt.Errorf("parse secret of %s: %w", w.ID, err)
		}
	}
	return secrets, nil
}

// maxTests is how many tests of an account can run at a time.
const maxTests = 4

// Test sends a request of the type webhook.test and returns what the receiver answers.
func (s *Service) Test(ctx context.Context, owner string, key store.WebhookKey) (webhook.Result, error) {
	w, err := s.Store.Webhook(ctx, owner, key)
	if err != nil {
		return webhook.Result{}, err
	}
	f, err := s.Store.Form(ctx, owner, key.FormID)
	if err != nil {
		return webhook.Result{}, err
	}
	now := s.Now()
	secrets, err := s.secretsOf(w, now)
	if err != nil {
		return webhook.Result{}, err
	}
	body, err := encodeBody(formData{f.ID, f.Title, f.Version}, store.Event{Kind: testEvent}, now, nil)
	if err != nil {
		return webhook.Result{}, err
	}
	if !s.beginTest(owner) {
		return webhook.Result{}, fault.TooManyRequests(int(webhook.Timeout.Seconds()))
	}
	defer s.endTest(owner)
	return s.Client.Send(ctx, webhook.Request{URL: w.URL, ID: id.New(id.Event, now), Body: body, Secrets: secrets}), nil
}

func (s *Service) beginTest(owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tests[owner] >= maxTests {
		return false
	}
	s.tests[owner]++
	return true
}

func (s *Service) endTest(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tests[owner]--; s.tests[owner] == 0 {
		delete(s.tests, owner)
	}
}
