package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
)

type appCommands struct {
	Add          appAdd          `cmd:"" help:"Register an application; its secret is shown once."`
	List         appList         `cmd:"" help:"List applications."`
	Disable      appDisable      `cmd:"" help:"Switch an application and its tokens off."`
	Enable       appEnable       `cmd:"" help:"Switch an application on again."`
	Delete       appDelete       `cmd:"" help:"Delete an application with its tokens."`
	RotateSecret appRotateSecret `cmd:"" help:"Give an application a new secret; the old one works until it is dropped."`
}

type appAdd struct {
	Name        string   `arg:"" help:"What people are asked to trust."`
	Owner       string   `required:"" env:"FORMULARY_APP_OWNER" help:"E-mail address of the person who registers it." placeholder:"EMAIL"`
	RedirectURI []string `required:"" env:"FORMULARY_APP_REDIRECT_URI" sep:"none" help:"Where people are sent back to; may be repeated." placeholder:"URI"`
	Scope       []string `env:"FORMULARY_APP_SCOPE" help:"What it may ask for; may be repeated. All scopes by default." placeholder:"SCOPE"`
	Public      bool     `env:"FORMULARY_APP_PUBLIC" help:"It has no secret: it runs in browsers or on devices, and uses PKCE."`
	Iss         bool     `env:"FORMULARY_APP_ISS" help:"Add iss to its redirects (RFC 9207)."`
	JSON        bool     `env:"FORMULARY_JSON" help:"Print JSON."`
}

// appAnswer is what app add and rotate-secret print with --json.
type appAnswer struct {
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"client_secret,omitempty"`
	Name         string   `json:"name"`
	RedirectURIs []string `json:"redirect_uris"`
	Scope        string   `json:"scope"`
	Public       bool     `json:"public"`
}

func (a appAdd) Run(ctx context.Context, place Storage, io streams) error {
	return withUser(ctx, place, a.Owner, func(s *store.Store, p account.User) error {
		now := time.Now()
		app := account.Application{
			Account: p.ID, ID: id.New(id.App, now), Name: a.Name, Public: a.Public,
			RedirectURIs: a.RedirectURI, Scopes: account.DefaultScopes(), SendIssuer: a.Iss, CreatedAt: now,
		}
		if len(a.Scope) > 0 {
			var unknown string
			if app.Scopes, unknown = account.ParseScopes(strings.Join(a.Scope, ",")); unknown != "" {
				return fmt.Errorf("%s is not a scope; there are %s", unknown, account.DefaultScopes())
			}
		}
		if err := app.Check(); err != nil {
			return err
		}
		text, hash := "", ""
		if !app.Public {
			text, hash = account.NewClientSecret()
		}
		if _, err := s.AddApp(ctx, app, hash, store.IdempotencyKey{}); err != nil {
			return err
		}
		return printApp(io, app, text, a.JSON)
	})
}

func printApp(io streams, app account.Application, secret string, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(io.out).Encode(appAnswer{app.ID, secret, app.Name, app.RedirectURIs, app.Scopes.String(), app.Public})
	}
	fmt.Fprintf(io.out, "%s\nclient_id      %s\n", app.Name, app.ID)
	if secret != "" {
		fmt.Fprintf(io.out, "client_secret  %s\n\nThe secret is shown this once.\n", secret)
	}
	return nil
}

type appList struct{}

func (appList) Run(ctx context.Context, place Storage, io streams) error {
	s, err := place.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	apps, err := s.AllApps(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tOWNER\tKIND\tSTATE\tREDIRECT URIS")
	for _, a := range apps {
		kind, state := "secret", "on"
		if a.Public {
			kind = "public"
		}
		if a.Disabled {
			state = "off"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", a.ID, a.Name, a.Owner, kind, state, strings.Join(a.RedirectURIs, " "))
	}
	return table.Flush()
}

// withApp opens the store and finds an application by its id, whoever owns it.
func withApp(ctx context.Context, place Storage, id string, do func(*store.Store, account.Application) error) error {
	s, err := place.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	app, _, err := s.AppCredentials(ctx, id)
	if err != nil {
		if fault.Wrap(err).Code == fault.NotFoundInAccount {
			return fmt.Errorf("there is no application %s", id)
		}
		return err
	}
	return do(s, app)
}

type appDisable struct {
	ID string `arg:"" help:"client_id."`
}

func (a appDisable) Run(ctx context.Context, place Storage, io streams) error {
	return switchApp(ctx, place, io, a.ID, true, "Disabled")
}

type appEnable struct {
	ID string `arg:"" help:"client_id."`
}

func (a appEnable) Run(ctx context.Context, place Storage, io streams) error {
	return switchApp(ctx, place, io, a.ID, false, "Enabled")
}

func switchApp(ctx context.Context, place Storage, io streams, id string, disabled bool, done string) error {
	return withApp(ctx, place, id, func(s *store.Store, app account.Application) error {
		if err := s.SetAppDisabled(ctx, app.Account, app.ID, disabled, time.Now()); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "%s %s.\n", done, app.Name)
		return nil
	})
}

type appDelete struct {
	ID string `arg:"" help:"client_id."`
}

func (a appDelete) Run(ctx context.Context, place Storage, io streams) error {
	return withApp(ctx, place, a.ID, func(s *store.Store, app account.Application) error {
		if err := s.DeleteApp(ctx, app.Account, app.ID); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "Deleted %s.\n", app.Name)
		return nil
	})
}

type appRotateSecret struct {
	ID   string `arg:"" help:"client_id."`
	Drop bool   `env:"FORMULARY_APP_DROP" help:"Drop the old secret instead: only the newest works from now on."`
	JSON bool   `env:"FORMULARY_JSON" help:"Print JSON."`
}

func (a appRotateSecret) Run(ctx context.Context, place Storage, io streams) error {
	return withApp(ctx, place, a.ID, func(s *store.Store, app account.Application) error {
		if app.Public {
			return fmt.Errorf("%s is public and has no secret", app.Name)
		}
		if a.Drop {
			return deleteOldSecret(ctx, s, app, io)
		}
		text, hash := account.NewClientSecret()
		if err := s.AddSecret(ctx, app.Account, app.ID, hash, time.Now()); err != nil {
			return err
		}
		if err := printApp(io, app, text, a.JSON); err != nil || a.JSON {
			return err
		}
		fmt.Fprintf(io.out, "The old secret still works. When the new one is in place: formulary app rotate-secret --drop %s\n", app.ID)
		return nil
	})
}

func deleteOldSecret(ctx context.Context, s *store.Store, app account.Application, io streams) error {
	_, secrets, err := s.App(ctx, app.Account, app.ID)
	if err != nil {
		return err
	}
	if len(secrets) < 2 {
		return fmt.Errorf("%s has one secret; there is no old one to drop", app.Name)
	}
	for _, old := range secrets[:len(secrets)-1] {
		if err := s.DeleteSecret(ctx, app.Account, app.ID, old.ID); err != nil {
			return err
		}
	}
	fmt.Fprintln(io.out, "The old secret no longer works.")
	return nil
}
