package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/mail"
	"formulary/internal/outbox"
	"formulary/internal/store"
)

type userCommands struct {
	Add     userAdd     `cmd:"" help:"Add a user. The first one is the administrator."`
	List    userList    `cmd:"" help:"List users."`
	Delete  userDelete  `cmd:"" help:"Delete a user and all their forms, responses and applications."`
	Disable userDisable `cmd:"" help:"Disable a user. Ends their sessions and tokens."`
	Enable  userEnable  `cmd:"" help:"Enable a user."`
	Confirm userConfirm `cmd:"" help:"Confirm the email address of a user."`
	Reset   userReset   `cmd:"" help:"Print a one-time password reset link."`

	Password userPassword `cmd:"" help:"Set a new password. Ends all sessions and disconnects all apps."`
}

// resetTTL is how long a reset link is valid.
const resetTTL = 24 * time.Hour

type userAdd struct {
	Email         string `arg:"" help:"Email address."`
	PasswordStdin bool   `required:"" env:"FORMULARY_PASSWORD_STDIN" help:"Read the password from standard input."`
	Name          string `env:"FORMULARY_USER_NAME" help:"Name of the user."`
	Language      string `env:"FORMULARY_USER_LANGUAGE" default:"en" help:"Language tag, such as en or pt-BR."`
}

func (u userAdd) Run(ctx context.Context, storage Storage, io streams, t Tuning) error {
	password, err := readPassword(io.in)
	if err != nil {
		return err
	}
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	user, err := addUser(ctx, s, newUser{u.Email, u.Name, u.Language, password, t.HashCost})
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "Added %s (%s, %s).\n", user.Email, user.ID, user.Role)
	return nil
}

func readPassword(in io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(in, 4096)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// newUser is the input of addUser.
type newUser struct {
	email, name, language, password string

	cost account.HashCost
}

func addUser(ctx context.Context, s *store.Store, n newUser) (account.User, error) {
	now := time.Now()
	p := account.User{ID: id.New(id.User, now), CreatedAt: now, EmailVerifiedAt: now}
	var err error
	if p.Email, err = account.ParseEmail(n.email); err != nil {
		return p, err
	}
	if p.Name, err = account.ParseName(n.name); err != nil {
		return p, err
	}
	var ok bool
	if p.Language, ok = form.ParseLanguage(n.language); !ok {
		return p, fmt.Errorf("%q is not a valid language tag", n.language)
	}
	if err := account.CheckPassword(n.password, p.Email, p.Name); err != nil {
		return p, err
	}
	if p.Password, err = account.NewHasher(1, n.cost).Hash(ctx, n.password); err != nil {
		return p, err
	}
	return s.AddUser(ctx, p)
}

type userList struct{}

func (userList) Run(ctx context.Context, storage Storage, io streams) error {
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	users, err := s.Users(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "EMAIL\tNAME\tROLE\tSTATUS\tCREATED\tID")
	for _, p := range users {
		state := "active"
		if p.Disabled {
			state = "disabled"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", p.Email, p.Name, p.Role, state, p.CreatedAt.Format(time.DateOnly), p.ID)
	}
	return table.Flush()
}

// withUser opens the store and finds a user by email address.
func withUser(ctx context.Context, storage Storage, email string, do func(*store.Store, account.User) error) error {
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	user, err := findUser(ctx, s, email)
	if err != nil {
		return err
	}
	return do(s, user)
}

func findUser(ctx context.Context, s *store.Store, email string) (account.User, error) {
	user, err := s.UserByEmail(ctx, email)
	if errors.Is(err, fault.NotFound) {
		return user, fmt.Errorf("no user has the email address %s", email)
	}
	return user, err
}

type userDelete struct {
	Email string `arg:"" help:"Email address."`
	Yes   bool   `env:"FORMULARY_YES" help:"Confirm permanent deletion."`
}

func (u userDelete) Run(ctx context.Context, storage Storage, io streams) error {
	if !u.Yes {
		return errors.New("this permanently deletes the user and all their data; add --yes to confirm")
	}
	return withUser(ctx, storage, u.Email, func(s *store.Store, p account.User) error {
		complete, err := s.DeleteUser(ctx, p.ID, time.Now())
		if err != nil {
			return err
		}
		fmt.Fprintf(io.out, "Deleted %s.\n", p.Email)
		if !complete {
			fmt.Fprintln(io.out, "The running server deletes the remaining data within 10 minutes.")
		}
		return nil
	})
}

type userDisable struct {
	Email string `arg:"" help:"Email address."`
}

func (u userDisable) Run(ctx context.Context, storage Storage, io streams) error {
	return setUserDisabled(ctx, storage, io, u.Email, true)
}

type userEnable struct {
	Email string `arg:"" help:"Email address."`
}

func (u userEnable) Run(ctx context.Context, storage Storage, io streams) error {
	return setUserDisabled(ctx, storage, io, u.Email, false)
}

func setUserDisabled(ctx context.Context, storage Storage, io streams, email string, disabled bool) error {
	return withUser(ctx, storage, email, func(s *store.Store, p account.User) error {
		if err := s.SetUserDisabled(ctx, p.ID, disabled, time.Now()); err != nil {
			return err
		}
		return printDisabled(io, p.Email, disabled)
	})
}

// printDisabled reports that a user or an application was disabled or enabled.
func printDisabled(io streams, name string, disabled bool) error {
	verb := "Enabled"
	if disabled {
		verb = "Disabled"
	}
	_, err := fmt.Fprintf(io.out, "%s %s.\n", verb, name)
	return err
}

type userConfirm struct {
	Email string `arg:"" help:"Email address."`
}

func (u userConfirm) Run(ctx context.Context, storage Storage, io streams) error {
	return withUser(ctx, storage, u.Email, func(s *store.Store, p account.User) error {
		if !p.IsEmailVerified() {
			if err := s.VerifyEmail(ctx, p, time.Now()); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(io.out, "Confirmed %s.\n", p.Email)
		return err
	})
}

type userPassword struct {
	Email         string `arg:"" help:"Email address."`
	PasswordStdin bool   `required:"" env:"FORMULARY_PASSWORD_STDIN" help:"Read the password from standard input."`
}

func (u userPassword) Run(ctx context.Context, storage Storage, io streams, t Tuning) error {
	password, err := readPassword(io.in)
	if err != nil {
		return err
	}
	return withUser(ctx, storage, u.Email, func(s *store.Store, p account.User) error {
		if err := account.CheckPassword(password, p.Email, p.Name); err != nil {
			return err
		}
		hash, err := account.NewHasher(1, t.HashCost).Hash(ctx, password)
		if err != nil {
			return err
		}
		mails, err := outbox.New(outbox.Config{Store: s, Now: time.Now}).ToUser(p, mail.PasswordChanged{
			Event: mail.Event{BaseURL: storage.baseURL(), Email: p.Email, At: time.Now(), TimeZone: p.TimeZone},
		})
		if err != nil {
			return err
		}
		if err := s.SetPassword(ctx, store.PasswordChange{Owner: p.ID, Hash: hash, Mails: mails}, time.Now()); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "Changed the password of %s. All sessions were ended and all apps disconnected.\n", p.Email)
		return nil
	})
}

// baseURL is the URL of the service as far as a command knows it.
func (s Storage) baseURL() string {
	if s.BaseURL == "" {
		return "http://" + s.Addr
	}
	return strings.TrimSuffix(s.BaseURL, "/")
}

type userReset struct {
	Email string `arg:"" help:"Email address."`
}

func (u userReset) Run(ctx context.Context, storage Storage, io streams) error {
	return withUser(ctx, storage, u.Email, func(s *store.Store, p account.User) error {
		link, err := s.NewResetLink(ctx, p.ID, time.Now(), resetTTL)
		if err != nil {
			return err
		}
		fmt.Fprintf(io.out, "Password reset link for %s (works once, expires in 24 hours). Using it ends all sessions and disconnects all apps:\n%s/reset?token=%s\n", p.Email, storage.baseURL(), link)
		return nil
	})
}
