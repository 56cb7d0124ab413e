package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"formulary/internal/blob"
	"formulary/internal/fault"
	"formulary/internal/media"
	"formulary/internal/store"
)

// thumbnailSide is the largest width and height of a thumbnail, in pixels.
const thumbnailSide = 512

// Thumbnail returns a file of a response with the type of its thumbnail, and the bytes of
// the thumbnail, which is made when it is first needed. fault.NotFound: the file is not a
// picture that can be shown.
func (s *Service) Thumbnail(ctx context.Context, owner, formID, fileID string) (store.File, io.ReadSeekCloser, error) {
	f, err := s.Store.File(ctx, owner, formID, fileID)
	if err != nil {
		return f, nil, err
	}
	if err := s.Readable(f); err != nil {
		return f, nil, err
	}
	if f.Thumbnail != "" {
		content, err := s.open(ctx, f.Thumbnail)
		if err == nil {
			f.Type = thumbnailType(content)
			return f, content, nil
		}
		if fault.Wrap(err).Code != fault.Internal {
			return f, nil, err
		}
	}
	return s.newThumbnail(ctx, owner, f)
}

// thumbnailType reads the type from the first bytes.
func thumbnailType(content io.ReadSeeker) string {
	head := make([]byte, 16)
	n, _ := io.ReadFull(content, head)
	content.Seek(0, io.SeekStart)
	return media.Detect(head[:n]).MIME
}

func (s *Service) newThumbnail(ctx context.Context, owner string, f store.File) (store.File, io.ReadSeekCloser, error) {
	original, err := s.open(ctx, f.Object)
	if err != nil {
		return f, nil, err
	}
	defer original.Close()
	encoded, err := media.Picture(ctx, original, f.Size, media.Bounds{Width: thumbnailSide, Height: thumbnailSide})
	if errors.Is(err, media.ErrNotPicture) || errors.Is(err, media.ErrTooManyPixels) {
		return f, nil, fault.NotFound
	}
	if err != nil {
		return f, nil, fmt.Errorf("make thumbnail: %w", err)
	}
	f.Type = encoded.MIME
	if err := s.keepThumbnail(ctx, owner, f, encoded.Bytes); err != nil {
		s.Log.Warn("could not store thumbnail", "file", f.ID, "error", err) // it is made again next time
	}
	return f, memoryFile{bytes.NewReader(encoded.Bytes)}, nil
}

func (s *Service) keepThumbnail(ctx context.Context, owner string, f store.File, content []byte) error {
	object := blob.NewKey()
	if err := s.Blobs.Put(ctx, object, bytes.NewReader(content), int64(len(content))); err != nil {
		return err
	}
	err := s.Store.SetThumbnail(ctx, owner, f, object)
	if err != nil {
		s.discard(ctx, object, err)
	}
	if errors.Is(err, fault.NotFound) { // another request was faster
		return nil
	}
	return err
}

// memoryFile is a file whose bytes are in memory.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }
