package cli

import (
	"context"
	"fmt"
)

type migrateCommand struct {
	Distributed bool `help:"Also distribute tables by account (PostgreSQL with Citus)."`
}

func (c migrateCommand) Run(ctx context.Context, storage Storage, io streams) error {
	ctx, cancel := context.WithTimeout(ctx, longWork)
	defer cancel()
	s, err := storage.connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	ran, err := s.Migrate(ctx)
	if err != nil {
		return err
	}
	if len(ran) == 0 {
		fmt.Fprintln(io.out, "The database is up to date.")
	}
	for _, name := range ran {
		fmt.Fprintln(io.out, "ran", name)
	}
	if !c.Distributed {
		return nil
	}
	moved, err := s.Distribute(ctx)
	for _, name := range moved {
		fmt.Fprintln(io.out, "spread", name)
	}
	if err == nil && len(moved) == 0 {
		fmt.Fprintln(io.out, "All tables are already distributed.")
	}
	return err
}
