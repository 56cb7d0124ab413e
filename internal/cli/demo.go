package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/web/workspace"
)

// demoForms are the forms of the demo, oldest first, with their number of responses.
var demoForms = []struct {
	language, name string
	responses      int
	publish        bool
	mails          bool // it sends notifications and receipts
}{
	{"en", "bug", 12, true, false}, {"de", "survey", 24, true, false}, {"en", "rsvp", 18, true, false}, {"en", "order", 0, false, false}, {"en", "event", 31, true, true},
	{"en", "feedback", 64, true, false},
}

// demo fills an empty database and prints the credentials.
func demo(ctx context.Context, s *store.Store, base string, io streams, cost account.HashCost) error {
	password := rand.Text()[:16]
	user, err := addUser(ctx, s, newUser{"demo@formulary.example", "Demo", "en", password, cost})
	if err != nil {
		return err
	}
	now := time.Now()
	for i := range demoForms {
		if err := demoForm(ctx, s, user, i, now); err != nil {
			return err
		}
	}
	app := account.Application{
		Account: user.ID, ID: id.New(id.App, now), Name: "Demo application",
		RedirectURIs: []string{"http://127.0.0.1:9090/callback"}, Scopes: account.DefaultScopes(), CreatedAt: now,
	}
	secret, hash := account.NewClientSecret()
	if _, err := s.AddApp(ctx, app, hash, store.IdempotencyKey{}); err != nil {
		return err
	}
	fmt.Fprintf(io.out, `
Demo data added. Sign in at %s/signin
  email     %s
  password  %s
Emails are not sent. They appear at %s/mails
Demo application (redirects to %s)
  client_id      %s
  client_secret  %s

`, base, user.Email, password, base, app.RedirectURIs[0], app.ID, secret)
	return nil
}

// demoDays is the age of the oldest responses.
const demoDays = 28

func demoForm(ctx context.Context, s *store.Store, user account.User, i int, now time.Time) error {
	spec, owner := demoForms[i], user.ID
	plan, err := workspace.LoadTemplate(spec.language, spec.name)
	if err != nil {
		return err
	}
	createdAt := now.Add(-demoDays*24*time.Hour - time.Duration(len(demoForms)-i)*26*time.Hour)
	f, err := s.CreateFormFrom(ctx, owner, plan, store.IdempotencyKey{}, createdAt)
	if err != nil || !spec.publish {
		return err
	}
	if _, err := s.Publish(ctx, owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, createdAt); err != nil {
		return err
	}
	public, err := s.PublicForm(ctx, f.ID)
	if err != nil {
		return err
	}
	for n := range spec.responses {
		// Responses become more frequent towards the present.
		age := time.Duration(float64(demoDays*24*time.Hour) * math.Pow(float64(spec.responses-n)/float64(spec.responses), 1.6))
		rng := mathrand.New(mathrand.NewPCG(uint64(i), uint64(n)))
		e := public.Definition.Evaluate(demoAnswers(public.Definition, rng))
		submission := store.Submission{Form: public, Answers: e.Answers, Metadata: form.Metadata{Source: "page", Seconds: 20 + rng.Int64N(120)}, At: now.Add(-age)}
		// A respondent cannot submit without the required answers.
		if len(e.Problems) > 0 {
			continue
		}
		if _, err := s.SubmitResponse(ctx, submission); err != nil && fault.Wrap(err).Code != fault.Invalid {
			return err
		}
	}
	if !spec.mails {
		return nil
	}
	return demoMails(ctx, s, user, f.ID, now)
}

var demoNames = []string{"Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Radia", "Tim", "Margaret", "Dennis", "Frances", "Ken"}

// demoAnswers makes up answers as decoded JSON.
func demoAnswers(d *form.Definition, rng *mathrand.Rand) map[string]any {
	answers := map[string]any{}
	sampler := form.Sampler{Name: demoNames[rng.IntN(len(demoNames))], Dice: rng}
	for _, f := range d.Fields {
		if !f.Required && rng.IntN(4) == 0 {
			continue
		}
		if texts := demoAnswerTexts[f.Key]; texts != nil && f.IsOpenText() {
			answers[f.Key] = texts[rng.IntN(len(texts))]
		} else if answer := f.Example(sampler); answer != nil {
			answers[f.Key] = answer
		}
	}
	return answers
}
