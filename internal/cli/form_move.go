package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"formulary/internal/fault"
	"formulary/internal/store"
)

type formMove struct {
	Form  string `arg:"" help:"Form ID or custom link."`
	Space string `env:"FORMULARY_FORM_SPACE" help:"ID of the space that gets the form." placeholder:"ID"`
	Owner string `env:"FORMULARY_FORM_OWNER" help:"Email address of the user whose own space gets the form." placeholder:"EMAIL"`
}

// Run moves the form. If it is interrupted, a server continues.
func (c formMove) Run(ctx context.Context, storage Storage, io streams) error {
	if (c.Space == "") == (c.Owner == "") {
		return errors.New("set the space that gets the form with --space, or with --owner if it is the own space of a user")
	}
	ctx, cancel := context.WithTimeout(ctx, longWork)
	defer cancel()
	s, _, err := storage.openWithFiles(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	public, err := findForm(ctx, s, c.Form)
	if err != nil {
		return err
	}
	to, name, err := c.target(ctx, s)
	if err != nil {
		return err
	}
	now := time.Now()
	if err := s.StartMove(ctx, public.Owner, public.ID, to, now); err != nil {
		if e, ok := errors.AsType[*fault.Error](err); ok && (e.Code == fault.Conflict || e.Code == fault.QuotaReached) {
			return errors.New(e.Message)
		}
		return err
	}
	if err := s.ContinueMove(ctx, public.Owner, public.ID, now); err != nil {
		return fmt.Errorf("the move continues when a server runs: %w", err)
	}
	_, err = fmt.Fprintf(io.out, "Moved %s to %s.\n", public.ID, name)
	return err
}

// target returns the account that gets the form, and its name.
func (c formMove) target(ctx context.Context, s *store.Store) (key, name string, err error) {
	if c.Owner != "" {
		p, err := findUser(ctx, s, c.Owner)
		return p.ID, "the own space of " + p.Email, err
	}
	space, err := findSpace(ctx, s, c.Space)
	return space.Key, space.Name, err
}
