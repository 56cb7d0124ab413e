// Command pocketbase is PocketBase as a Go module, with the same data as Formulary,
// for the benchmark:
//
//	pocketbase seed FOLDER           fills an empty folder and prints a bearer token
//	pocketbase serve FOLDER ADDRESS  serves it until its standard input is closed
//
// Everything except the data is the default.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	_ "github.com/pocketbase/pocketbase/migrations" // creates the system tables
)

const (
	someForms = 1_000
	manyForms = 10_000
)

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pocketbase:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) < 2 {
		return errors.New("seed FOLDER, or serve FOLDER ADDRESS")
	}
	app := core.NewBaseApp(core.BaseAppConfig{DataDir: args[1]})
	if err := app.Bootstrap(); err != nil {
		return err
	}
	switch {
	case args[0] == "seed" && len(args) == 2:
		return seed(app)
	case args[0] == "serve" && len(args) == 3:
		go func() {
			io.Copy(io.Discard, os.Stdin) // returns when the benchmark exits
			os.Exit(0)
		}()
		// Disable the installer, which opens a browser.
		app.OnServe().BindFunc(func(e *core.ServeEvent) error {
			e.InstallerFunc = nil
			return e.Next()
		})
		return apis.Serve(app, apis.ServeConfig{HttpAddr: args[2]})
	}
	return fmt.Errorf("what is %q?", args)
}

// seed creates two users with forms, which only their owner can list, and a collection
// of answers in which anyone can create records.
func seed(app core.App) error {
	if err := app.RunAllMigrations(); err != nil {
		return err
	}
	users, err := app.FindCollectionByNameOrId("users")
	if err != nil {
		return err
	}
	forms := core.NewBaseCollection("forms")
	ownersOnly := "owner = @request.auth.id"
	forms.ListRule = &ownersOnly
	forms.Fields.Add(
		&core.RelationField{Name: "owner", CollectionId: users.Id, Required: true, MaxSelect: 1},
		&core.TextField{Name: "title", Required: true},
		&core.TextField{Name: "description"},
		&core.TextField{Name: "language"},
		&core.TextField{Name: "status"},
		&core.NumberField{Name: "responses"},
		&core.AutodateField{Name: "created", OnCreate: true},
		&core.AutodateField{Name: "updated", OnCreate: true, OnUpdate: true},
	)
	forms.AddIndex("forms_owner", false, "owner, created", "")
	if err := app.Save(forms); err != nil {
		return err
	}
	answers := core.NewBaseCollection("answers")
	anyone := ""
	answers.CreateRule = &anyone
	maxScore := 10.0
	answers.Fields.Add(
		&core.TextField{Name: "name", Required: true},
		&core.EmailField{Name: "mail"},
		&core.NumberField{Name: "score", Max: &maxScore},
		&core.SelectField{Name: "size", Values: []string{"small", "medium", "large"}},
		&core.TextField{Name: "remark"},
		&core.AutodateField{Name: "created", OnCreate: true},
	)
	if err := app.Save(answers); err != nil {
		return err
	}
	smallOwner, err := addUser(app, users, forms, "some@example.com", someForms)
	if err != nil {
		return err
	}
	if _, err := addUser(app, users, forms, "many@example.com", manyForms); err != nil {
		return err
	}
	token, err := smallOwner.NewAuthToken()
	if err != nil {
		return err
	}
	fmt.Println(token)
	return nil
}

func addUser(app core.App, users, forms *core.Collection, email string, n int) (*core.Record, error) {
	p := core.NewRecord(users)
	p.SetEmail(email)
	p.SetRandomPassword()
	p.SetVerified(true)
	if err := app.Save(p); err != nil {
		return nil, err
	}
	return p, app.RunInTransaction(func(tx core.App) error {
		for i := range n {
			f := core.NewRecord(forms)
			f.Set("owner", p.Id)
			f.Set("title", fmt.Sprintf("Customer survey %d", i+1))
			f.Set("description", "How content are you with our service, and what could be better?")
			f.Set("language", "en")
			f.Set("status", "draft")
			if err := tx.Save(f); err != nil {
				return err
			}
		}
		return nil
	})
}
