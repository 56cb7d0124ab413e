package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"formulary/internal/account"
	"formulary/internal/form"
	"formulary/internal/store"
)

var demoForms = []form.Head{
	{Title: "Summer party", Description: "Are you coming, and what will you bring?", Language: "en"},
	{Title: "Kundenumfrage", Description: "Wie zufrieden sind Sie mit uns?", Language: "de"},
	{Title: "Pedido de café", Description: "O que vai ser hoje?", Language: "pt-BR"},
	{Title: "Bug report", Description: "What did you do, what did you expect, what happened instead?", Language: "en"},
	{Title: "Inscription à l’atelier", Description: "Douze places, le samedi matin.", Language: "fr"},
	{Title: "Job application", Description: "Tell us about something you made.", Language: "en"},
}

// demo fills an empty database and prints how to look at it.
func demo(ctx context.Context, s *store.Store, base string, io streams) error {
	password := rand.Text()[:16]
	person, err := addPerson(ctx, s, "demo@formulary.example", "Demo", "en", password)
	if err != nil {
		return err
	}
	now := time.Now()
	for i, head := range demoForms {
		made := now.Add(time.Duration(i-len(demoForms)) * 26 * time.Hour)
		if _, err := s.CreateForm(ctx, person.ID, head, nil, store.Once{}, made); err != nil {
			return err
		}
	}
	app := account.Application{
		Account: person.ID, ID: account.NewID(account.AppPrefix, now), Name: "Demo application",
		RedirectURIs: []string{"http://127.0.0.1:9090/callback"}, Scopes: account.EveryScope(), CreatedAt: now,
	}
	secret, hash := account.NewClientSecret()
	if _, err := s.AddApp(ctx, app, hash, store.Once{}); err != nil {
		return err
	}
	fmt.Fprintf(io.out, `
Demo data is in place. Sign in at %s/signin
  e-mail    %s
  password  %s
An application to try the API with, returning to %s
  client_id      %s
  client_secret  %s

`, base, person.Email, password, app.RedirectURIs[0], app.ID, secret)
	return nil
}
