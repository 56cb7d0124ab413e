package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
)

const (
	// respondents is the number of concurrent submissions: twice the batch size of the
	// store, so that the next batch is complete when one is committed.
	respondents = 512
	// answeredFor is how long the form has been open. Its responses are spread evenly
	// over that time.
	answeredFor = 365 * 24 * time.Hour
)

// fillSurvey creates a user with one published form.
func (w *dataset) fillSurvey(ctx context.Context) error {
	var err error
	if w.smallOwner, err = w.addUser(ctx, "survey@example.com", 0); err != nil {
		return err
	}
	if err := w.registerApp(ctx); err != nil {
		return err
	}
	return w.publish(ctx, w.smallOwner, "Customer survey", surveyQuestions())
}

func surveyQuestions() *form.Definition {
	return &form.Definition{Fields: []*form.Field{
		{Kind: "short_text", Key: "name", Label: "Your name?", Required: true},
		{Kind: "email", Key: "mail", Label: "Your e-mail?", Required: true},
		{Kind: "number", Key: "staff", Label: "How many people work with you?", Min: new(float64)},
		{Kind: "single_choice", Key: "found", Label: "How did you find us?", Options: options("friend", "search", "fair", "press"), Other: true},
		{Kind: "multiple_choice", Key: "uses", Label: "What do you use?", Options: options("forms", "exports", "webhooks", "reports", "api")},
		{Kind: "scale", Key: "score", Label: "Would you tell a friend?", Required: true},
		{Kind: "yes_no", Key: "again", Label: "May we ask again?"},
		{Kind: "long_text", Key: "remark", Label: "Anything else?"},
	}}
}

func options(values ...string) []form.Option {
	list := make([]form.Option, len(values))
	for i, value := range values {
		list[i] = form.Option{Value: value, Label: strings.ToUpper(value[:1]) + value[1:]}
	}
	return list
}

var (
	givenNames  = strings.Fields("Ada Grace Edsger Barbara Niklaus Frances Donald Radia Zoë José Łukasz Mei")
	familyNames = strings.Fields("Lovelace Hopper Dijkstra Liskov Wirth Allen Knuth Perlman Müller García Nowak Chen")
	remarkWords = strings.Fields("the service was quick and friendly, but your form on a phone is long; please let us come back later " +
		"to it \"as promised\", thank you. We would like more examples for teams and schools – prices are fine.")
)

// surveyAnswers returns the answers of respondent n as decoded JSON. They differ
// between respondents and are the same in every run.
func surveyAnswers(n int) map[string]any {
	random := rand.New(rand.NewPCG(uint64(n), 8))
	pickOne := func(list []string) string { return list[random.IntN(len(list))] }
	given, family := pickOne(givenNames), pickOne(familyNames)
	answers := map[string]any{
		"name":  given + " " + family,
		"mail":  fmt.Sprintf("respondent.%d@example.com", n),
		"found": pickOne([]string{"friend", "search", "fair", "press", "A colleague in another town"}),
		"score": float64(random.IntN(11)),
		"again": random.IntN(3) > 0,
	}
	if random.IntN(10) > 0 {
		answers["staff"] = float64(1 + random.IntN(5000))
	}
	var uses []any
	for _, use := range []string{"forms", "exports", "webhooks", "reports", "api"} {
		if random.IntN(2) == 0 {
			uses = append(uses, use)
		}
	}
	if uses != nil {
		answers["uses"] = uses
	}
	if words := random.IntN(30); words > 8 {
		remark := make([]string, words)
		for i := range remark {
			remark[i] = pickOne(remarkWords)
		}
		answers["remark"] = strings.Join(remark, " ")
	}
	return answers
}

// surveySubmissions returns the requests of n respondents.
func (w *dataset) surveySubmissions(n int) ([][]byte, error) {
	requests := make([][]byte, n)
	for i := range requests {
		text, err := json.Marshal(map[string]any{"answers": surveyAnswers(i)})
		if err != nil {
			return nil, err
		}
		requests[i] = postJSON(w.public(), string(text))
	}
	return requests, nil
}

// addResponses adds n responses to w.form as the service does: each is validated, and
// concurrent ones share a commit.
func (w *dataset) addResponses(ctx context.Context, n int) error {
	f, err := w.store.PublicForm(ctx, w.form)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opened := time.Now().Add(-answeredFor)
	pace := answeredFor / time.Duration(n)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range respondents {
		workers.Go(func() {
			for i := int(next.Add(1)); i <= n && ctx.Err() == nil; i = int(next.Add(1)) {
				e, err := f.Definition.Validate(surveyAnswers(i))
				if err == nil {
					_, err = w.store.SubmitResponse(ctx, store.Submission{
						Form: f, Answers: e.Answers, Metadata: form.Metadata{Source: "json"}, At: opened.Add(time.Duration(i) * pace),
					})
				}
				if err != nil {
					cancel(fmt.Errorf("response %d: %w", i, err))
				}
			}
		})
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return w.checkCount(ctx, n)
}

// checkCount fails unless the form has n responses.
func (w *dataset) checkCount(ctx context.Context, n int) error {
	f, err := w.store.Form(ctx, w.smallOwner.ID, w.form)
	if err != nil {
		return err
	}
	if f.ResponseCount != int64(n) {
		return errors.New("not every response was counted")
	}
	return nil
}
