package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"formulary/internal/blob"
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
	// An upload that started before moves its file itself once it notices the move.
	for {
		n := 0
		for object, err := range source.All(ctx) {
			if err != nil {
				return err
			}
			if err := moveObject(ctx, source, target, object.Key); err != nil {
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
	isContinued := move.To == to && move.From != "" && p.Current() == to
	if from = p.Current(); isContinued {
		from = move.From
	}
	source, err := p.open(from)
	if err != nil {
		return "", err
	}
	if err := checkDifferent(ctx, source, target); err != nil {
		return from, err
	}
	if !isContinued {
		if err := p.store.SetFileMove(ctx, move.Next(from, to)); err != nil {
			return "", err
		}
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
// copy has no row and is swept later. Two callers may move the same object.
func moveObject(ctx context.Context, source, target blob.Store, key string) error {
	size, err := sizeOf(ctx, source, key)
	if isMissing(err) {
		return nil // moved or deleted
	}
	if err != nil {
		return err
	}
	copied, err := sizeOf(ctx, target, key)
	if err != nil && !isMissing(err) {
		return err
	}
	if isMissing(err) || copied != size { // otherwise it was copied before an interruption
		if err := copyObject(ctx, source, target, key, size); isMissing(err) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return source.Delete(ctx, key)
}

func copyObject(ctx context.Context, source, target blob.Store, key string, size int64) error {
	content, err := source.Open(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	defer content.Close()
	return target.Put(ctx, key, content, size)
}

func sizeOf(ctx context.Context, place blob.Store, key string) (int64, error) {
	content, err := place.Open(ctx, key, 0, -1)
	if err != nil {
		return 0, err
	}
	defer content.Close()
	return content.(io.Seeker).Seek(0, io.SeekEnd)
}
