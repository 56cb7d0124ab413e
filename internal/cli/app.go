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
	Add          appAdd          `cmd:"" help:"Register an application. Its secret is shown only once."`
	List         appList         `cmd:"" help:"List applications."`
	Disable      appDisable      `cmd:"" help:"Disable an application and its tokens."`
	Enable       appEnable       `cmd:"" help:"Enable an application."`
	Delete       appDelete       `cmd:"" help:"Delete an application and its tokens."`
	RotateSecret appRotateSecret `cmd:"" help:"Add a new client secret. The old one works until you delete it."`
}

type appAdd struct {
	Name        string   `arg:"" help:"Name shown on the consent page."`
	Owner       string   `required:"" env:"FORMULARY_APP_OWNER" help:"Email address of the owner." placeholder:"EMAIL"`
	RedirectURI []string `required:"" env:"FORMULARY_APP_REDIRECT_URI" sep:"none" help:"Redirect URI; repeat for more than one." placeholder:"URI"`
	Scope       []string `env:"FORMULARY_APP_SCOPE" help:"Scope the application can request; repeat for more than one. Default: all scopes but audit:read." placeholder:"SCOPE"`
	Public      bool     `env:"FORMULARY_APP_PUBLIC" help:"Public application (browser or device): no secret, PKCE required."`
	Iss         bool     `env:"FORMULARY_APP_ISS" help:"Add the iss parameter to redirects (RFC 9207)."`
	JSON        bool     `env:"FORMULARY_JSON" help:"Print as JSON."`
}

// appOutput is the JSON output of app add and rotate-secret.
type appOutput struct {
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"client_secret,omitempty"`
	Name         string   `json:"name"`
	RedirectURIs []string `json:"redirect_uris"`
	Scope        string   `json:"scope"`
	Public       bool     `json:"public"`
}

func (a appAdd) Run(ctx context.Context, storage Storage, io streams) error {
	return withUser(ctx, storage, a.Owner, func(s *store.Store, p account.User) error {
		now := time.Now()
		app := account.Application{
			Account: p.ID, ID: id.New(id.App, now), Name: a.Name, Public: a.Public,
			RedirectURIs: a.RedirectURI, Scopes: account.DefaultScopes(), SendIssuer: a.Iss, CreatedAt: now,
		}
		if len(a.Scope) > 0 {
			var unknown string
			if app.Scopes, unknown = account.ParseScopes(strings.Join(a.Scope, ",")); unknown != "" {
				return fmt.Errorf("unknown scope %s; use one of %s", unknown, append(account.DefaultScopes(), account.AuditRead))
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
		return json.NewEncoder(io.out).Encode(appOutput{app.ID, secret, app.Name, app.RedirectURIs, app.Scopes.String(), app.Public})
	}
	fmt.Fprintf(io.out, "%s\nclient_id      %s\n", app.Name, app.ID)
	if secret != "" {
		fmt.Fprintf(io.out, "client_secret  %s\n\nCopy the secret now. It is not shown again.\n", secret)
	}
	return nil
}

type appList struct{}

func (appList) Run(ctx context.Context, storage Storage, io streams) error {
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	apps, err := s.AllApps(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tOWNER\tTYPE\tSTATUS\tREDIRECT URIS")
	for _, a := range apps {
		kind, state := "confidential", "enabled"
		if a.Public {
			kind = "public"
		}
		if a.Disabled {
			state = "disabled"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", a.ID, a.Name, a.Owner, kind, state, strings.Join(a.RedirectURIs, " "))
	}
	return table.Flush()
}

// withApp opens the store and finds an application of any owner by its client ID.
func withApp(ctx context.Context, storage Storage, id string, do func(*store.Store, account.Application) error) error {
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	app, _, err := s.AppCredentials(ctx, id)
	if err != nil {
		if fault.Wrap(err).Code == fault.NotFoundInAccount {
			return fmt.Errorf("application %s not found", id)
		}
		return err
	}
	return do(s, app)
}

type appDisable struct {
	ID string `arg:"" help:"client_id of the application."`
}

func (a appDisable) Run(ctx context.Context, storage Storage, io streams) error {
	return setAppDisabled(ctx, storage, io, a.ID, true)
}

type appEnable struct {
	ID string `arg:"" help:"client_id of the application."`
}

func (a appEnable) Run(ctx context.Context, storage Storage, io streams) error {
	return setAppDisabled(ctx, storage, io, a.ID, false)
}

func setAppDisabled(ctx context.Context, storage Storage, io streams, id string, disabled bool) error {
	return withApp(ctx, storage, id, func(s *store.Store, app account.Application) error {
		if err := s.SetAppDisabled(ctx, app.Account, app.ID, disabled, time.Now()); err != nil {
			return err
		}
		return printDisabled(io, app.Name, disabled)
	})
}

type appDelete struct {
	ID string `arg:"" help:"client_id of the application."`
}

func (a appDelete) Run(ctx context.Context, storage Storage, io streams) error {
	return withApp(ctx, storage, a.ID, func(s *store.Store, app account.Application) error {
		if err := s.DeleteApp(ctx, app.Account, app.ID, time.Now()); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "Deleted %s.\n", app.Name)
		return nil
	})
}

type appRotateSecret struct {
	ID   string `arg:"" help:"client_id of the application."`
	Drop bool   `env:"FORMULARY_APP_DROP" help:"Delete the old secret, so that only the newest one works."`
	JSON bool   `env:"FORMULARY_JSON" help:"Print as JSON."`
}

func (a appRotateSecret) Run(ctx context.Context, storage Storage, io streams) error {
	return withApp(ctx, storage, a.ID, func(s *store.Store, app account.Application) error {
		if app.Public {
			return fmt.Errorf("%s is a public application and has no secret", app.Name)
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
		fmt.Fprintf(io.out, "Both secrets work. When the new one is in use, delete the old one: formulary app rotate-secret --drop %s\n", app.ID)
		return nil
	})
}

func deleteOldSecret(ctx context.Context, s *store.Store, app account.Application, io streams) error {
	_, secrets, err := s.App(ctx, app.Account, app.ID)
	if err != nil {
		return err
	}
	if len(secrets) < 2 {
		return fmt.Errorf("%s has only one secret", app.Name)
	}
	for _, old := range secrets[:len(secrets)-1] {
		if err := s.DeleteSecret(ctx, app.Account, app.ID, old.ID); err != nil {
			return err
		}
	}
	fmt.Fprintln(io.out, "Old secret deleted.")
	return nil
}
