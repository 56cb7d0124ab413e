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
	"formulary/internal/store"
)

type userCommands struct {
	Add     userAdd     `cmd:"" help:"Add a person. The first one is the operator."`
	List    userList    `cmd:"" help:"List people."`
	Delete  userDelete  `cmd:"" help:"Delete a person with all forms, responses and applications."`
	Disable userDisable `cmd:"" help:"Lock a person out, with all sessions and tokens."`
	Enable  userEnable  `cmd:"" help:"Let a person in again."`
	Reset   userReset   `cmd:"" help:"Print a one-time link to a new password."`

	Password userPassword `cmd:"" help:"Set a new password. Ends all sessions and disconnects all apps."`
}

// resetTTL is how long the link of user reset works.
const resetTTL = 24 * time.Hour

type userAdd struct {
	Email         string `arg:"" help:"E-mail address."`
	PasswordStdin bool   `required:"" env:"FORMULARY_PASSWORD_STDIN" help:"Read the password from standard input."`
	Name          string `env:"FORMULARY_USER_NAME" help:"What the person is called."`
	Language      string `env:"FORMULARY_USER_LANGUAGE" default:"en" help:"Language tag, such as en or pt-BR."`
}

func (u userAdd) Run(ctx context.Context, place Storage, io streams, t Tuning) error {
	password, err := readPassword(io.in)
	if err != nil {
		return err
	}
	s, err := place.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	person, err := addUser(ctx, s, newUser{u.Email, u.Name, u.Language, password, t.HashCost})
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "Added %s (%s, %s).\n", person.Email, person.ID, person.Role)
	return nil
}

func readPassword(in io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(in, 4096)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// newUser is an account to add.
type newUser struct {
	email, name, language, password string

	cost account.HashCost
}

func addUser(ctx context.Context, s *store.Store, n newUser) (account.User, error) {
	now := time.Now()
	p := account.User{ID: id.New(id.User, now), CreatedAt: now}
	var err error
	if p.Email, err = account.ParseEmail(n.email); err != nil {
		return p, err
	}
	if p.Name, err = account.ParseName(n.name); err != nil {
		return p, err
	}
	var ok bool
	if p.Language, ok = form.ParseLanguage(n.language); !ok {
		return p, fmt.Errorf("%q is not a known language tag", n.language)
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

func (userList) Run(ctx context.Context, place Storage, io streams) error {
	s, err := place.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	people, err := s.Users(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "EMAIL\tNAME\tROLE\tSTATE\tSINCE\tID")
	for _, p := range people {
		state := "active"
		if p.Disabled {
			state = "disabled"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", p.Email, p.Name, p.Role, state, p.CreatedAt.Format(time.DateOnly), p.ID)
	}
	return table.Flush()
}

// withUser opens the store and finds somebody by their address.
func withUser(ctx context.Context, place Storage, email string, do func(*store.Store, account.User) error) error {
	s, err := place.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	person, err := findUser(ctx, s, email)
	if err != nil {
		return err
	}
	return do(s, person)
}

func findUser(ctx context.Context, s *store.Store, email string) (account.User, error) {
	person, err := s.UserByEmail(ctx, email)
	if errors.Is(err, fault.NotFound) {
		return person, fmt.Errorf("there is nobody with the address %s", email)
	}
	return person, err
}

type userDelete struct {
	Email string `arg:"" help:"E-mail address."`
	Yes   bool   `env:"FORMULARY_YES" help:"Yes, delete everything of this person for good."`
}

func (u userDelete) Run(ctx context.Context, place Storage, io streams) error {
	if !u.Yes {
		return errors.New("this deletes everything of that person for good; add --yes to do it")
	}
	return withUser(ctx, place, u.Email, func(s *store.Store, p account.User) error {
		complete, err := s.DeleteUser(ctx, p.ID, time.Now())
		if err != nil {
			return err
		}
		fmt.Fprintf(io.out, "Deleted %s.\n", p.Email)
		if !complete {
			fmt.Fprintln(io.out, "The running server removes the rest of the data within 10 minutes.")
		}
		return nil
	})
}

type userDisable struct {
	Email string `arg:"" help:"E-mail address."`
}

func (u userDisable) Run(ctx context.Context, place Storage, io streams) error {
	return setDisabled(ctx, place, io, u.Email, true, "Disabled")
}

type userEnable struct {
	Email string `arg:"" help:"E-mail address."`
}

func (u userEnable) Run(ctx context.Context, place Storage, io streams) error {
	return setDisabled(ctx, place, io, u.Email, false, "Enabled")
}

func setDisabled(ctx context.Context, place Storage, io streams, email string, disabled bool, done string) error {
	return withUser(ctx, place, email, func(s *store.Store, p account.User) error {
		if err := s.SetUserDisabled(ctx, p.ID, disabled, time.Now()); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "%s %s.\n", done, p.Email)
		return nil
	})
}

type userPassword struct {
	Email         string `arg:"" help:"E-mail address."`
	PasswordStdin bool   `required:"" env:"FORMULARY_PASSWORD_STDIN" help:"Read the password from standard input."`
}

func (u userPassword) Run(ctx context.Context, place Storage, io streams, t Tuning) error {
	password, err := readPassword(io.in)
	if err != nil {
		return err
	}
	return withUser(ctx, place, u.Email, func(s *store.Store, p account.User) error {
		if err := account.CheckPassword(password, p.Email, p.Name); err != nil {
			return err
		}
		hash, err := account.NewHasher(1, t.HashCost).Hash(ctx, password)
		if err != nil {
			return err
		}
		if err := s.SetPassword(ctx, store.PasswordChange{Owner: p.ID, Hash: hash}, time.Now()); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "Changed the password of %s. All sessions ended and all apps are disconnected.\n", p.Email)
		return nil
	})
}

type userReset struct {
	Email string `arg:"" help:"E-mail address."`
}

func (u userReset) Run(ctx context.Context, place Storage, io streams) error {
	return withUser(ctx, place, u.Email, func(s *store.Store, p account.User) error {
		link, err := s.NewResetLink(ctx, p.ID, time.Now(), resetTTL)
		if err != nil {
			return err
		}
		base := place.BaseURL
		if base == "" {
			base = "http://" + place.Addr
		}
		fmt.Fprintf(io.out, "One-time link to a new password for %s, valid for 24 hours. Using it ends all sessions and disconnects all apps:\n%s/reset?token=%s\n", p.Email, strings.TrimSuffix(base, "/"), link)
		return nil
	})
}
