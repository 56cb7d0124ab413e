package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"formulary/internal/blob"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/media"
	"formulary/internal/store"
)

// NewPicture is a picture that an owner sends.
type NewPicture struct {
	Name string
	Body io.Reader
	Size int64 // -1: not known
	// Bounds are those of the stored picture; larger ones are scaled down.
	Bounds media.Bounds
}

// maxPicture is the size of the largest picture, in bytes.
const maxPicture = 10 << 20

var (
	errPicture = fault.Messagef("choose a picture in PNG, JPEG, GIF or WebP format")
	errPixels  = fault.Messagef("choose a smaller picture; this one has too many pixels")
)

// AddPicture stores a picture of an owner, encoded again without metadata.
func (s *Service) AddPicture(ctx context.Context, owner string, in NewPicture) (_ store.Picture, err error) {
	largest := min(maxPicture, s.Limit)
	if in.Size > largest {
		return store.Picture{}, TooLarge(largest)
	}
	// Slow clients do not keep pictures in memory.
	source, err := os.CreateTemp("", "formulary-picture-")
	if err != nil {
		return store.Picture{}, fault.StorageUnavailable(fmt.Errorf("create temporary file: %w", err))
	}
	defer func() {
		source.Close()
		os.Remove(source.Name()) // the system cleans up what is left
	}()
	size, err := io.Copy(source, io.LimitReader(in.Body, largest+1))
	switch {
	case err != nil:
		if _, ok := errors.AsType[*fault.Error](err); ok {
			return store.Picture{}, err
		}
		return store.Picture{}, fault.New(fault.BadRequest, "%s", errShort.Message).WithCause(err)
	case size > largest:
		return store.Picture{}, TooLarge(largest)
	}
	if err := s.scanPicture(ctx, io.NewSectionReader(source, 0, size)); err != nil {
		return store.Picture{}, err
	}
	encoded, err := media.Picture(ctx, source, size, in.Bounds)
	switch {
	case errors.Is(err, media.ErrTooManyPixels):
		return store.Picture{}, fault.InvalidFields(fault.DetailOf("file", errPixels)).WithCause(err)
	case errors.Is(err, media.ErrNotPicture):
		return store.Picture{}, fault.InvalidFields(fault.DetailOf("file", errPicture)).WithCause(err)
	case err != nil:
		return store.Picture{}, fmt.Errorf("read picture: %w", err)
	}
	now, hash := s.Now(), sha256.Sum256(encoded.Bytes)
	p := store.Picture{
		ID: id.New(id.File, now), Name: media.CleanName(in.Name), Size: int64(len(encoded.Bytes)), Type: encoded.MIME, Object: blob.NewKey(), SHA256: hex.EncodeToString(hash[:]),
		Width: int64(encoded.Width), Height: int64(encoded.Height), CreatedAt: now,
	}
	if err := s.Store.ReservePicture(ctx, owner, p.Size); err != nil {
		return p, err
	}
	if err := s.Blobs.Put(ctx, p.Object, bytes.NewReader(encoded.Bytes), p.Size); err != nil {
		return p, fmt.Errorf("store picture: %w", err)
	}
	if err := s.Store.AddPicture(ctx, owner, p); err != nil {
		s.discard(ctx, p.Object, err)
		return p, err
	}
	return p, nil
}

// scanPicture looks for malware before a picture is decoded.
func (s *Service) scanPicture(ctx context.Context, source io.Reader) error {
	if s.Scanner == nil {
		return nil
	}
	switch state, _, err := s.Scanner(ctx, source); {
	case err != nil || state == store.NotScanned:
		return fault.New(fault.DatabaseUnreachable, "Pictures cannot be scanned for malware at the moment. Try again later.").WithCause(err).WithRetryAfter(30)
	case state == store.Infected:
		return errInfected
	case state == store.TooLargeToScan:
		return errTooLargeToScan
	}
	return nil
}

// ReadPicture returns a picture and its bytes.
func (s *Service) ReadPicture(ctx context.Context, pictureID string) (store.Picture, io.ReadSeekCloser, error) {
	p, err := s.Store.Picture(ctx, pictureID)
	if err != nil {
		return p, nil, err
	}
	content, err := s.open(ctx, p.Object)
	return p, content, err
}
