package file

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
)

// Uploads that are continued after a lost connection. An upload with a name waits for its next
// request instead of failing: what stores and hashes it goes on where it stopped. It is in the
// memory of one process; where that does not know an upload, the client sends the file again.

const (
	resumeTimeout = 5 * time.Minute // without a connection
	resultTTL     = time.Minute     // for clients that did not get the answer
	// Uploads without a connection, each of which has a buffer: of all clients, and of one.
	maxLost          = 256
	maxLostOfClient  = 16
	maxPending       = 10_000
	stopPollInterval = 20 * time.Millisecond
)

var (
	errUploadExists = fault.New(fault.Conflict, "There is an upload with this name already.")
	errManyPending  = errors.New("too many uploads can be continued")
	errWrongOffset  = fault.New(fault.Conflict, "The upload does not continue at this offset. Read the offset again.")
)

// UploadName identifies an upload that can be continued.
type UploadName struct {
	FormID, Field string
	Name          string // chosen by the client; it is a secret
}

// Part is the body of one request of an upload.
type Part struct {
	Body io.Reader
	Stop func() // makes a waiting Read return

	stopped atomic.Bool
	done    chan struct{} // closed once Body is not read any more
}

// pendingUploads are the uploads with a name.
type pendingUploads struct {
	mu     sync.Mutex
	byName map[UploadName]*pendingUpload
	lost   map[string]int // without a connection, by client
	nLost  int
	closed bool
	wg     sync.WaitGroup
}

// pendingUpload reads the parts of a file one after the other.
type pendingUpload struct {
	all    *pendingUploads
	client string
	size   int64
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	part     *Part // nil: the connection is lost
	offset   int64
	attached chan struct{} // there is a new part

	finished chan struct{} // then file and err are set
	file     form.File
	err      error
}

// UploadPart is Upload for a file whose upload can be continued. in.Size is known, and in.Body is
// that of the part.
func (s *Service) UploadPart(ctx context.Context, name UploadName, in Upload, part *Part) (form.File, error) {
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	u := &pendingUpload{
		all: &s.pending, client: s.client(in.Client), size: in.Size, ctx: background, cancel: cancel,
		attached: make(chan struct{}, 1), finished: make(chan struct{}),
	}
	u.attach(part) // before it is read, so that it never counts as lost
	switch err := s.pending.add(name, u); {
	case errors.Is(err, errManyPending):
		cancel()
		return s.Upload(ctx, in) // it cannot be continued
	case err != nil:
		cancel()
		return form.File{}, err
	}
	in.Body = u
	go func() {
		defer s.pending.wg.Done()
		defer cancel()
		defer close(u.finished)
		if u.file, u.err = s.Upload(background, in); u.err != nil {
			s.pending.remove(name) // before finished, because the client may retry as soon as it knows
			return
		}
		time.AfterFunc(resultTTL, func() { s.pending.remove(name) })
	}()
	return u.result(part)
}

// ContinueUpload goes on with an upload. fault.NotFound: this process does not know it.
func (s *Service) ContinueUpload(name UploadName, part *Part, offset int64) (form.File, error) {
	u, err := s.pending.find(name)
	if err != nil {
		return form.File{}, err
	}
	return u.serve(part, offset)
}

// UploadOffset returns how much of an upload was received, and ends the request that sends it, so
// that the client can continue there.
func (s *Service) UploadOffset(name UploadName) (int64, error) {
	u, err := s.pending.find(name)
	if err != nil {
		return 0, err
	}
	u.stop()
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.offset, nil
}

func (a *pendingUploads) add(name UploadName, u *pendingUpload) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.byName[name] != nil:
		return errUploadExists
	case a.closed || len(a.byName) >= maxPending:
		return errManyPending
	}
	if a.byName == nil {
		a.byName, a.lost = map[UploadName]*pendingUpload{}, map[string]int{}
	}
	a.byName[name] = u
	a.wg.Add(1)
	return nil
}

func (a *pendingUploads) remove(name UploadName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byName, name)
}

func (a *pendingUploads) find(name UploadName) (*pendingUpload, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if u := a.byName[name]; u != nil {
		return u, nil
	}
	return nil, fault.NotFound
}

// addLost counts an upload without a connection; false: there are too many, or the process ends.
func (a *pendingUploads) addLost(client string, n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	isTooMany := client != "" && a.lost[client] >= maxLostOfClient
	if n > 0 && (a.closed || a.nLost >= maxLost || isTooMany) {
		return false
	}
	a.nLost += n
	if a.lost[client] += n; a.lost[client] == 0 {
		delete(a.lost, client)
	}
	return true
}

// close ends uploads without a connection, and waits for the others.
func (a *pendingUploads) close() {
	a.mu.Lock()
	a.closed = true
	for _, u := range a.byName {
		u.mu.Lock()
		if u.part == nil {
			u.cancel()
		}
		u.mu.Unlock()
	}
	a.mu.Unlock()
	a.wg.Wait()
}

// serve gives the next part to the upload, and returns once the file is stored or the part has
// ended.
func (u *pendingUpload) serve(part *Part, offset int64) (form.File, error) {
	u.stop()
	u.mu.Lock()
	isComplete := offset == u.size // the client did not get the answer
	if offset != u.offset || u.part != nil && !isComplete {
		u.mu.Unlock()
		return form.File{}, errWrongOffset
	}
	if !isComplete {
		u.attach(part)
	}
	u.mu.Unlock()
	select {
	case u.attached <- struct{}{}:
	default: // the upload is awake
	}
	return u.result(part)
}

// attach makes a part the one that is read.
func (u *pendingUpload) attach(part *Part) {
	part.Body, part.done = io.LimitReader(part.Body, u.size-u.offset), make(chan struct{})
	u.part = part
}

// result waits until the file is stored or the part has ended.
func (u *pendingUpload) result(part *Part) (form.File, error) {
	select {
	case <-part.done: // never, if the file was complete before
		return form.File{}, errShort
	case <-u.finished:
	}
	return u.file, u.err
}

// stop ends the part that is read, if its connection may be lost without notice.
func (u *pendingUpload) stop() {
	u.mu.Lock()
	part, isComplete := u.part, u.offset == u.size
	u.mu.Unlock()
	if part == nil || isComplete {
		return
	}
	part.stopped.Store(true)
	for {
		part.Stop()
		select {
		case <-part.done:
			return
		case <-u.finished:
			return
		case <-time.After(stopPollInterval): // the part may have set another deadline
		}
	}
}

// Read implements io.Reader for what stores the file.
func (u *pendingUpload) Read(p []byte) (int, error) {
	for {
		u.mu.Lock()
		part, offset := u.part, u.offset
		u.mu.Unlock()
		if part == nil {
			if offset == u.size {
				return 0, io.EOF
			}
			if err := u.wait(); err != nil {
				return 0, err
			}
			continue
		}
		var n int
		err := io.ErrUnexpectedEOF
		if !part.stopped.Load() {
			n, err = part.Body.Read(p)
		}
		u.mu.Lock()
		u.offset += int64(n)
		isLost := err != nil && u.offset < u.size
		if isLost {
			u.part = nil
			close(part.done)
		}
		u.mu.Unlock()
		if n > 0 || !isLost {
			if isLost || err == nil {
				return n, nil
			}
			return n, io.EOF
		}
	}
}

var errNotContinued = errors.New("the upload was not continued")

// wait waits for the next part.
func (u *pendingUpload) wait() error {
	select {
	case <-u.attached:
		return nil
	default:
	}
	if !u.all.addLost(u.client, 1) {
		return errNotContinued
	}
	defer u.all.addLost(u.client, -1)
	timeout := time.NewTimer(resumeTimeout)
	defer timeout.Stop()
	select {
	case <-u.attached:
		return nil
	case <-timeout.C:
		return errNotContinued
	case <-u.ctx.Done():
		return u.ctx.Err()
	}
}
