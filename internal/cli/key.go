package cli

import (
	"context"
	"fmt"
	"time"
)

type keyCommands struct {
	Rotate keyRotate `cmd:"" help:"Create a new signing key. The previous key stays valid for 24 hours."`
}

type keyRotate struct{}

func (keyRotate) Run(ctx context.Context, storage Storage, io streams) error {
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	until, err := s.RotateSigningKey(ctx, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "New signing key in use. The previous key stays valid until %s.\n", until.UTC().Format(time.RFC3339))
	return nil
}
