package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/live"
)

type tailCommand struct {
	Form  string `arg:"" help:"Form ID or custom link."`
	All   bool   `xor:"start" env:"FORMULARY_TAIL_ALL" help:"Start with the responses that are already stored."`
	After string `xor:"start" env:"FORMULARY_TAIL_AFTER" help:"Start after this response." placeholder:"ID"`
}

// tailRetry is how long to wait while the database cannot be reached.
const tailRetry = time.Second

// Run prints responses until ctx is canceled.
func (c tailCommand) Run(ctx context.Context, storage Storage, io streams) error {
	cursor := c.After
	if c.All {
		cursor = id.First(id.Response, time.UnixMilli(0))
	}
	if _, ok := id.Parse(id.Response, cursor); cursor != "" && !ok {
		return fmt.Errorf("%s is not a response ID", cursor)
	}
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	public, err := findForm(ctx, s, c.Form)
	if err != nil {
		return err
	}
	if err := s.RecordExport(ctx, public.Owner, public.ID, "tail"); err != nil {
		return err
	}
	service := live.New(live.Config{Store: s, Log: slog.New(slog.NewTextHandler(io.err, nil)), Encode: func(_ string, r form.Response) []byte {
		return append(r.WithFileURLs(storage.BaseURL).AppendJSON(nil), '\n')
	}})
	defer service.Close()
	stream, err := service.Responses(ctx, public.Owner, "tail", public.ID, cursor)
	if err != nil {
		return err
	}
	defer stream.Close()
	err = c.print(ctx, stream, io)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (c tailCommand) print(ctx context.Context, stream *live.Responses, io streams) error {
	for ctx.Err() == nil {
		ready := stream.Ready()
		lines, err := stream.Next(ctx)
		var retry <-chan time.Time
		switch {
		case errors.Is(err, fault.NotFound):
			return fmt.Errorf("form %s was deleted", c.Form)
		case err != nil && fault.Wrap(err).Code != fault.DatabaseUnreachable:
			return err
		case err != nil:
			ready, retry = nil, time.After(tailRetry)
		case len(lines) > 0:
			for _, line := range lines {
				if _, err := io.out.Write(line); err != nil {
					return err
				}
			}
			continue
		}
		select {
		case <-ctx.Done():
		case <-ready:
		case <-retry:
		}
	}
	return nil
}
