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

	seedWorkers = 64 // commits are shared by those who wait together
	codeBatch   = 2_000
	codeLife    = 24 * time.Hour
	batchLimit  = time.Minute
)

// world is what there is in the database: a person with some forms, one with
// many, and an application that both have let in.
type world struct {
	store  *store.Store
	app    account.Application
	secret string
	some   account.User
	many   account.User
	form   string // the id of an open form
	survey string // and of one that has been answered
}

// seed fills an empty database. It goes through the store, as the service does.
func seed(ctx context.Context, at place, fill func(*world, context.Context) error) (*world, error) {
	s, err := store.Open(ctx, at.data, at.url)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	w := &world{store: s}
	if err := fill(w, ctx); err != nil {
		return nil, fmt.Errorf("seed: %w", errors.Join(err, s.Close()))
	}
	return w, nil
}

func (w *world) fill(ctx context.Context) error {
	var err error
	if w.some, err = w.person(ctx, "some@example.com", someForms-1); err != nil {
		return err
	}
	if err := w.publish(ctx, w.some, "Customer survey", surveyQuestions()); err != nil {
		return err
	}
	if err := w.respond(ctx, fewResponses); err != nil {
		return err
	}
	w.survey = w.form
	if w.many, err = w.person(ctx, "many@example.com", manyForms); err != nil {
		return err
	}
	if err := w.register(ctx); err != nil {
		return err
	}
	return w.publishOrder(ctx)
}

// register makes the application.
func (w *world) register(ctx context.Context) error {
	now := time.Now()
	var hash string
	w.secret, hash = account.NewClientSecret()
	w.app = account.Application{
		Account: w.some.ID, ID: id.New(id.App, now), Name: "Benchmark",
		RedirectURIs: []string{redirectURI}, Scopes: account.DefaultScopes(), CreatedAt: now,
	}
	_, err := w.store.AddApp(ctx, w.app, hash, store.IdempotencyKey{})
	return err
}

// publishOrder opens a form of a few questions.
func (w *world) publishOrder(ctx context.Context) error {
	return w.publish(ctx, w.many, "Order", &form.Definition{Fields: []*form.Field{
		{Kind: "short_text", Key: "name", Label: "Your name?", Required: true},
		{Kind: "email", Key: "mail", Label: "Your e-mail?"},
		{Kind: "scale", Key: "score", Label: "Would you tell a friend?"},
		{Kind: "single_choice", Key: "size", Label: "Which size?", Options: []form.Option{{Label: "Small"}, {Label: "Medium"}, {Label: "Large"}}},
		{Kind: "long_text", Key: "remark", Label: "Anything else?"},
	}})
}

// publish opens a form, which is then the one of the world.
func (w *world) publish(ctx context.Context, owner account.User, title string, d *form.Definition) error {
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

func (w *world) person(ctx context.Context, email string, forms int64) (account.User, error) {
	now := time.Now()
	p, err := w.store.AddUser(ctx, account.User{
		ID: id.New(id.User, now), Email: email, Name: "Ada Lovelace", Language: "en", CreatedAt: now,
	})
	if err != nil {
		return p, err
	}
	var made atomic.Int64
	errs := make([]error, seedWorkers)
	var working sync.WaitGroup
	for i := range errs {
		working.Go(func() {
			for n := made.Add(1); n <= forms && errs[i] == nil; n = made.Add(1) {
				head := form.Header{
					Title:       fmt.Sprintf("Customer survey %d", n),
					Description: "How content are you with our service, and what could be better?",
					Language:    "en",
				}
				_, errs[i] = w.store.CreateForm(ctx, p.ID, head, nil, time.Now())
			}
		})
	}
	working.Wait()
	return p, errors.Join(errs...)
}

// codes issues authorization codes, which otherwise takes a person each.
func (w *world) codes(ctx context.Context, owner account.User, n int) ([]string, error) {
	ticket := store.ConsentRequest{AppID: w.app.ID, RedirectURI: redirectURI, Scopes: account.DefaultScopes()}
	texts := make([]string, 0, n)
	for len(texts) < n {
		now := time.Now()
		batch := make([]account.Secret, min(codeBatch, n-len(texts)))
		for i := range batch {
			batch[i] = account.NewSecret(account.Code, owner.ID, now)
			texts = append(texts, batch[i].Text)
		}
		if err := w.addCodes(ctx, ticket, batch, now); err != nil {
			return nil, fmt.Errorf("issue codes: %w", err)
		}
	}
	return texts, nil
}

func (w *world) addCodes(ctx context.Context, ticket store.ConsentRequest, batch []account.Secret, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, batchLimit)
	defer cancel()
	return w.store.AddCodes(ctx, ticket, batch, now.Add(codeLife), now)
}

// tokens are the two tokens of an exchange.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// exchange gets tokens from the running service, as an application does.
func (w *world) exchange(ctx context.Context, addr string, owner account.User, n int) ([]tokens, error) {
	codes, err := w.codes(ctx, owner, n)
	if err != nil {
		return nil, err
	}
	list := make([]tokens, n)
	for i, code := range codes {
		a, err := ask(ctx, addr, w.exchangeRequest(code))
		if err != nil {
			return nil, fmt.Errorf("exchange: %w", err)
		}
		if err := json.Unmarshal(a.Body, &list[i]); err != nil {
			return nil, fmt.Errorf("exchange: %w", err)
		}
	}
	return list, nil
}
