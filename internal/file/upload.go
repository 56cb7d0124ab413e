package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/netip"

	"formulary/internal/blob"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/media"
	"formulary/internal/store"
)

// Upload is a file that a respondent sends.
type Upload struct {
	Form   *store.PublicForm
	Field  string // key of the question
	Name   string // as the client says; it is cleaned
	Body   io.Reader
	Size   int64 // -1: not known
	Client netip.Addr
}

var (
	errNotOpen = fault.New(fault.FormNotOpen, "The form is not open.")
	errEmpty   = fault.Messagef("choose a file that is not empty")
	errType    = fault.Messagef("choose a file of another type; this one is not accepted")
	errNoField = fault.Messagef("this question does not take files")
	// errShort is the client's fault: it has sent less than it announced, or went away.
	errShort = fault.New(fault.BadRequest, "The upload ended before the whole file was received.")
)

// TooLarge is the error about a file above the limit.
func TooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "The file is too large. The limit is %s.", formatLimit(limit))
}

func formatLimit(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MB", n>>20)
	}
	return store.FormatBytes(n)
}

// LimitOf returns the size of the largest file that a question accepts.
func (s *Service) LimitOf(rules form.FileRules) int64 { return min(rules.MaxSize, s.Limit) }

// Upload stores a file until a response claims it, and returns when it is durable. Memory
// does not depend on its size.
func (s *Service) Upload(ctx context.Context, in Upload) (form.File, error) {
	f, err := s.upload(ctx, in)
	if err != nil {
		s.stats.refused.Add(1)
		return form.File{}, fmt.Errorf("upload file: %w", err)
	}
	s.stats.uploads.Add(1)
	s.stats.uploadedBytes.Add(f.Size)
	s.wakeScanner()
	return f.File, nil
}

func (s *Service) upload(ctx context.Context, in Upload) (_ store.File, err error) {
	now := s.Now()
	if !in.Form.IsOpenAt(now) {
		return store.File{}, errNotOpen
	}
	field := in.Form.Definition.Field(in.Field)
	if field == nil {
		return store.File{}, invalid(in.Field, errNoField)
	}
	rules, ok := field.FileRules()
	if !ok {
		return store.File{}, invalid(in.Field, errNoField)
	}
	f := store.File{FormID: in.Form.ID, FieldID: field.ID, Object: blob.NewKey(), Client: s.client(in.Client), CreatedAt: now}
	f.ID, f.Name = id.New(id.File, now), media.CleanName(in.Name)
	largest := s.LimitOf(rules)
	if in.Size > largest {
		return f, TooLarge(largest)
	}
	if err := s.Store.AllowUpload(ctx, in.Form.Owner, in.Form.ID, f.Client); err != nil {
		return f, err
	}
	body := &meter{ctx: ctx, from: in.Body, limit: largest, hash: sha256.New(), reserve: func(n int64) error {
		return s.Store.ReserveUpload(ctx, in.Form.Owner, n)
	}}
	defer func() {
		stored := body.n
		if err != nil {
			stored = 0
		}
		s.Store.ReleaseUpload(in.Form.Owner, body.held, stored)
	}()
	if in.Size > 0 {
		if err := body.hold(in.Size); err != nil {
			return f, err
		}
	}
	head := make([]byte, media.HeadSize)
	n, err := io.ReadFull(body, head)
	if head = head[:n]; body.err != nil {
		return f, body.err
	}
	if n == 0 {
		return f, invalid(in.Field, errEmpty)
	}
	kind := media.Detect(head)
	if !media.Accepts(rules.Accept, kind) {
		return f, invalid(in.Field, errType)
	}
	f.Type = kind.MIME
	rest := io.Reader(&prefixed{head: head, rest: body})
	if err != nil { // the head is the whole file
		rest = &prefixed{head: head}
	}
	if err := s.put(ctx, f.Object, rest, in.Size, body); err != nil {
		return f, err
	}
	f.Size, f.SHA256 = body.n, hex.EncodeToString(body.hash.Sum(nil))
	if err := s.Store.AddFile(ctx, in.Form.Owner, f); err != nil {
		s.discard(ctx, f.Object, err)
		return f, err
	}
	return f, nil
}

func invalid(field string, message error) error {
	return fault.InvalidFields(fault.DetailOf(field, message))
}

// put stores bytes. An error of the client is returned as such.
func (s *Service) put(ctx context.Context, object string, from io.Reader, size int64, body *meter) error {
	err := s.Blobs.Put(ctx, object, from, size)
	switch {
	case body.err != nil:
		return body.err
	case err != nil && body.ended && size >= 0 && body.n != size: // otherwise the storage has failed
		return errShort
	}
	return err
}

// discard deletes the object of a row that was not stored. If it is not known whether the row
// was stored, the object stays: without a row, it is swept later.
func (s *Service) discard(ctx context.Context, object string, err error) {
	if fault.Wrap(err).Code == fault.DatabaseUnreachable || ctx.Err() != nil {
		return
	}
	if err := s.Blobs.Delete(ctx, object); err != nil {
		s.Log.Warn("an object without a file could not be deleted", "object", object, "error", err)
	}
}

// reserveStep is how many bytes of an upload of unknown size are reserved at a time.
const reserveStep = 1 << 20

// meter counts and hashes what is read, and enforces the limits. Its errors are those that
// the client should see.
type meter struct {
	ctx     context.Context
	from    io.Reader
	limit   int64
	hash    hash.Hash
	reserve func(int64) error
	held    int64 // bytes that are reserved
	n       int64 // bytes that were read
	ended   bool  // the client has sent everything
	err     error // sticky
}

// hold reserves bytes.
func (m *meter) hold(n int64) error {
	if m.err = m.reserve(n); m.err == nil {
		m.held += n
	}
	return m.err
}

func (m *meter) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.from.Read(p)
	m.hash.Write(p[:n])
	if m.n += int64(n); m.n > m.limit {
		m.err = TooLarge(m.limit)
		return 0, m.err
	}
	if m.n > m.held {
		if err := m.hold(max(reserveStep, m.n-m.held)); err != nil {
			return 0, err
		}
	}
	if err != nil && err != io.EOF {
		if _, ok := errors.AsType[*fault.Error](err); ok {
			m.err = err
		} else {
			m.err = fault.New(fault.BadRequest, "%s", errShort.Message).WithCause(err)
		}
		return 0, m.err
	}
	m.ended = err == io.EOF
	return n, err
}

// prefixed reads the head, then the rest. Unlike io.MultiReader it gives large buffers to the
// rest at once.
type prefixed struct {
	head []byte
	rest io.Reader // nil: nothing
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	if p.rest == nil {
		return 0, io.EOF
	}
	return p.rest.Read(b)
}
