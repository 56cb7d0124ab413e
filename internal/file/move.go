package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"formulary/internal/blob"
	"formulary/internal/store"
)

// Move moves all objects to another place, also while services are running: they store new
// files there from now on, and read from both. It can be repeated after an interruption. moved
// is called after each object.
func (p *Places) Move(ctx context.Context, to string, moved func(size int64)) error {
	target, err := p.open(to)
	if err != nil {
		return err
	}
	from, err := p.startMove(ctx, to, target)
	if err != nil {
		return err
	}
	source, err := p.open(from)
	if err != nil {
		return err
	}
	// An upload that has started stores its file in the old place.
	for {
		n := 0
		for object, err := range source.All(ctx) {
			if err != nil {
				return err
			}
			if err := moveObject(ctx, source, target, object); err != nil {
				return fmt.Errorf("move %s: %w", object.Key, err)
			}
			n++
			moved(object.Size)
		}
		if n == 0 {
			return nil
		}
	}
}

var errSamePlace = errors.New("the files are there already")

// startMove notes the move, so that running services follow it, and waits until they have.
func (p *Places) startMove(ctx context.Context, to string, target blob.Store) (from string, err error) {
	move, err := p.store.FileMove(ctx)
	if err != nil {
		return "", err
	}
	isContinued := move.To == to && move.From != "" && (p.place == move.From || p.place == to)
	if from = p.Current(); isContinued {
		from = move.From
	}
	source, err := p.open(from)
	if err != nil {
		return "", err
	}
	if err := checkDifferent(ctx, source, target); err != nil || isContinued {
		return from, err
	}
	if err := p.store.SetFileMove(ctx, store.FileMove{From: from, To: to}); err != nil {
		return "", err
	}
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(2 * movesCheckedEvery):
		return from, nil
	}
}

// checkDifferent returns errSamePlace if two addresses are those of one place, such as a folder
// and a link to it: moving would delete everything.
func checkDifferent(ctx context.Context, source, target blob.Store) (err error) {
	probe := blob.NewKey()
	if err := target.Put(ctx, probe, strings.NewReader("probe"), int64(len("probe"))); err != nil {
		return fmt.Errorf("write to the new place: %w", err)
	}
	defer func() { err = errors.Join(err, target.Delete(ctx, probe)) }()
	found, err := source.Open(ctx, probe, 0, -1)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the old place: %w", err)
	}
	return errors.Join(errSamePlace, found.Close())
}

// moveObject copies an object and deletes the original. If the file is deleted meanwhile, the
// copy has no row and is swept later.
func moveObject(ctx context.Context, source, target blob.Store, object blob.Object) error {
	content, err := source.Open(ctx, object.Key, 0, -1)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer content.Close()
	if existing, err := target.Open(ctx, object.Key, 0, -1); err == nil {
		size, err := existing.(io.Seeker).Seek(0, io.SeekEnd)
		existing.Close()
		if err == nil && size == object.Size {
			return source.Delete(ctx, object.Key) // copied before an interruption
		}
	} else if !isMissing(err) {
		return err
	}
	if err := target.Put(ctx, object.Key, content, object.Size); err != nil {
		return err
	}
	return source.Delete(ctx, object.Key)
}
