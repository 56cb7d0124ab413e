// Package respond accepts submissions. The form's page, the public JSON endpoint and the
// API all go through it, so that one set of rules decides what becomes a response.
package respond

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/file"
	"formulary/internal/form"
	"formulary/internal/limit"
	"formulary/internal/store"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store *store.Store
	// Submissions limits what one client network submits; nil: no limit.
	Submissions *limit.Limiter[netip.Addr]
	// Uploads limits the files that one client network uploads; nil: no limit.
	Uploads *limit.Limiter[netip.Addr]
	// Files stores uploads.
	Files *file.Service
	Now   func() time.Time
}

// Service accepts submissions.
type Service struct {
	store       *store.Store
	submissions *limit.Limiter[netip.Addr]
	uploads     *limit.Limiter[netip.Addr]
	files       *file.Service
	now         func() time.Time
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{store: c.Store, submissions: c.Submissions, uploads: c.Uploads, files: c.Files, now: c.Now}
}

// Admit counts a submission against the rate limit of the client's network. It is
// separate from Submit so that callers can check it before they read the body. It sets
// the RateLimit fields in header, unless header is nil.
func (s *Service) Admit(client netip.Addr, header map[string][]string) error {
	if s.submissions == nil {
		return nil
	}
	left, wait, ok := s.submissions.Allow(limit.ClientNetwork(client))
	if header != nil {
		s.submissions.SetHeader(header, "respondent", left, wait)
	}
	if !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return nil
}

// Submission is a response that is not validated or stored yet.
type Submission struct {
	Form    *store.PublicForm // in the version that the respondent was shown
	Answers map[string]any    // as submitted, by question key
	// Evaluated replaces Answers where the caller has evaluated them already, as a page
	// does to find out which page is next.
	Evaluated *form.Evaluation
	Metadata  form.Metadata
	Key       Key
	At        time.Time // zero: now
}

// evaluate returns answers that are valid for the form.
func (in *Submission) evaluate() (form.Evaluation, error) {
	if in.Evaluated == nil {
		return in.Form.Definition.Validate(in.Answers)
	}
	if len(in.Evaluated.Problems) > 0 {
		return form.Evaluation{}, fault.InvalidFields(in.Evaluated.Problems...)
	}
	return *in.Evaluated, nil
}

// Key is an idempotency key: a repeated submission returns the response that the first
// one created. The zero value makes every submission a new response.
type Key struct {
	Sender string // separates the keys of different senders: an application ID, "page" or "public"
	Value  string
	Body   string // request body, which a repetition must repeat; empty: its answers must be equal
}

// of returns the key as stored. Without a body it has no hash, and the store compares
// answers.
func (k Key) of(f *store.PublicForm) store.IdempotencyKey {
	if k.Value == "" {
		return store.IdempotencyKey{}
	}
	key := store.IdempotencyKey{App: k.Sender + "/" + f.ID, Key: k.Value}
	if k.Body != "" {
		key.Hash = account.Hash(k.Body)
	}
	return key
}

var errNotOpen = fault.New(fault.FormNotOpen, "The form is not open.")

// Submit validates a submission, stores it, and returns when it is durable. The order
// of the checks is part of the API: a repeated key, then whether the form is open, then
// the answers.
func (s *Service) Submit(ctx context.Context, in Submission) (form.Response, error) {
	if in.At.IsZero() {
		in.At = s.now()
	}
	key, open := in.Key.of(in.Form), in.Form.IsOpenAt(in.At)
	// A repetition gets its response even if the form has closed or changed since. If
	// answers must be compared, the store does it when it claims the key: most
	// submissions are not repetitions, and need no lookup here.
	if key.Hash != "" || !open {
		r, found, err := s.store.FindSubmission(ctx, in.Form.Owner, in.Form.ID, key)
		if err != nil {
			return form.Response{}, fmt.Errorf("find repeated submission: %w", err)
		}
		if found {
			return r, nil
		}
	}
	if !open {
		return form.Response{}, errNotOpen
	}
	e, err := in.evaluate()
	if err != nil {
		return form.Response{}, fmt.Errorf("validate answers: %w", err)
	}
	r, err := s.store.SubmitResponse(ctx, store.Submission{Form: in.Form, Answers: e.Answers, Metadata: in.Metadata, Key: key, At: in.At})
	if err != nil {
		return form.Response{}, fmt.Errorf("store response: %w", err)
	}
	// The response is durable. Notifications about it start here.
	return r, nil
}

// Find returns the response that was stored with the key, or fault.NotFound. It serves
// repetitions that do not reach Submit, for example because the form has closed.
func (s *Service) Find(ctx context.Context, f *store.PublicForm, key Key) (form.Response, error) {
	r, found, err := s.store.FindSubmission(ctx, f.Owner, f.ID, key.of(f))
	if err != nil {
		return form.Response{}, fmt.Errorf("find submission: %w", err)
	}
	if !found {
		return form.Response{}, fault.NotFound
	}
	return r, nil
}
