package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/account"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
)

const (
	someForms     = 1_000
	manyForms     = 10_000
	refreshTokens = 64
	redirectURI   = "https://app.example.com/callback"

	seedWorkers = 64 // concurrent writers share commits
	codeBatch   = 2_000
	codeLife    = 24 * time.Hour
	batchLimit  = time.Minute
)

// dataset is the content of the database: a user with some forms, one with many, and an
// application that both authorized.
type dataset struct {
	store      *store.Store
	app        account.Application
	secret     string
	smallOwner account.User
	largeOwner account.User
	form       string // ID of an open form
	survey     string // ID of a form with responses
}

// seed fills an empty database through the store, as the service does.
func seed(ctx context.Context, location location, fill func(*dataset, context.Context) error) (*dataset, error) {
	s, err := store.Open(ctx, location.data, location.url)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	w := &dataset{store: s}
	if err := fill(w, ctx); err != nil {
		return nil, fmt.Errorf("seed: %w", errors.Join(err, s.Close()))
	}
	return w, nil
}

func (w *dataset) fill(ctx context.Context) error {
	var err error
	if w.smallOwner, err = w.addUser(ctx, "some@example.com", someForms-1); err != nil {
		return err
	}
	if err := w.publish(ctx, w.smallOwner, "Customer survey", surveyQuestions()); err != nil {
		return err
	}
	if err := w.addResponses(ctx, fewResponses); err != nil {
		return err
	}
	w.survey = w.form
	if w.largeOwner, err = w.addUser(ctx, "many@example.com", manyForms); err != nil {
		return err
	}
	if err := w.registerApp(ctx); err != nil {
		return err
	}
	return w.publishOrder(ctx, w.largeOwner)
}

// registerApp creates the application.
func (w *dataset) registerApp(ctx context.Context) error {
	now := time.Now()
	var hash string
	w.secret, hash = account.NewClientSecret()
	w.app = account.Application{
		Account: w.smallOwner.ID, ID: id.New(id.App, now), Name: "Benchmark",
		RedirectURIs: []string{redirectURI}, Scopes: account.DefaultScopes(), CreatedAt: now,
	}
	_, err := w.store.AddApp(ctx, w.app, hash, store.IdempotencyKey{})
	return err
}

// publishOrder publishes a form with five questions.
func (w *dataset) publishOrder(ctx context.Context, owner account.User) error {
	return w.publish(ctx, owner, "Order", &form.Definition{Fields: []*form.Field{
		{Kind: "short_text", Key: "name", Label: "Your name?", Required: true},
		{Kind: "email", Key: "mail", Label: "Your e-mail?"},
		{Kind: "scale", Key: "score", Label: "Would you tell a friend?"},
		{Kind: "single_choice", Key: "size", Label: "Which size?", Options: []form.Option{{Label: "Small"}, {Label: "Medium"}, {Label: "Large"}}},
		{Kind: "long_text", Key: "remark", Label: "Anything else?"},
	}})
}

// publish creates and publishes a form and makes it w.form.
func (w *dataset) publish(ctx context.Context, owner account.User, title string, d *form.Definition) error {
	if err := d.Normalize(); err != nil {
		return err
	}
	f, err := w.store.CreateForm(ctx, owner.ID, form.Header{Title: title, Language: "en"}, d, time.Now())
	if err != nil {
		return err
	}
	w.form = f.ID
	_, err = w.store.Publish(ctx, owner.ID, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, time.Now())
	return err
}

func (w *dataset) addUser(ctx context.Context, email string, forms int64) (account.User, error) {
	now := time.Now()
	p, err := w.store.AddUser(ctx, account.User{
		ID: id.New(id.User, now), Email: email, Name: "Ada Lovelace", Language: "en", CreatedAt: now,
	})
	if err != nil {
		return p, err
	}
	return p, inParallel(forms, func(n int64) error { return w.addForm(ctx, p.ID, n) })
}

// addForm adds the n-th form of a long list.
func (w *dataset) addForm(ctx context.Context, owner string, n int64) error {
	head := form.Header{
		Title:       fmt.Sprintf("Customer survey %d", n),
		Description: "How content are you with our service, and what could be better?",
		Language:    "en",
	}
	_, err := w.store.CreateForm(ctx, owner, head, nil, time.Now())
	return err
}

// inParallel calls a function with the numbers from 1 to count.
func inParallel(count int64, call func(n int64) error) error {
	var next atomic.Int64
	errs := make([]error, seedWorkers)
	var workers sync.WaitGroup
	for i := range errs {
		workers.Go(func() {
			for n := next.Add(1); n <= count && errs[i] == nil; n = next.Add(1) {
				errs[i] = call(n)
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// issueCodes creates authorization codes directly. Otherwise each needs a consent.
func (w *dataset) issueCodes(ctx context.Context, owner account.User, n int) ([]string, error) {
	request := store.ConsentRequest{AppID: w.app.ID, RedirectURI: redirectURI, Scopes: account.DefaultScopes()}
	texts := make([]string, 0, n)
	for len(texts) < n {
		now := time.Now()
		batch := make([]account.Secret, min(codeBatch, n-len(texts)))
		for i := range batch {
			batch[i] = account.NewSecret(account.Code, owner.ID, now)
			texts = append(texts, batch[i].Text)
		}
		if err := w.addCodes(ctx, request, batch, now); err != nil {
			return nil, fmt.Errorf("issue codes: %w", err)
		}
	}
	return texts, nil
}

func (w *dataset) addCodes(ctx context.Context, request store.ConsentRequest, batch []account.Secret, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, batchLimit)
	defer cancel()
	return w.store.AddCodes(ctx, request, batch, now.Add(codeLife), now)
}

// tokens is the body of a token response.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// exchange gets n pairs of tokens from the running service.
func (w *dataset) exchange(ctx context.Context, addr string, owner account.User, n int) ([]tokens, error) {
	codes, err := w.issueCodes(ctx, owner, n)
	if err != nil {
		return nil, err
	}
	list := make([]tokens, n)
	for i, code := range codes {
		a, err := fetch(ctx, addr, w.exchangeRequest(code))
		if err != nil {
			return nil, fmt.Errorf("exchange: %w", err)
		}
		if err := json.Unmarshal(a.Body, &list[i]); err != nil {
			return nil, fmt.Errorf("exchange: %w", err)
		}
	}
	return list, nil
}
