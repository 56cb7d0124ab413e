package public

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/respond"
	"formulary/internal/web/page"
)

// A page with file questions is posted as multipart/form-data. The files are stored while
// the request is read, and the following pages have their IDs in hidden controls like
// other answers.

const (
	maxParts     = 20_000
	maxPartsText = 1 << 20 // bytes of all controls that are not files, with their names
	// maxPartHeader bounds the header of a part, which is in memory. Names of files have at
	// most a few hundred bytes.
	maxPartHeader = 64 << 10
	// partOverhead is the memory of a control beside its name and value.
	partOverhead = 64
	// maxRefused is how much of a file that is too large is read, so that the browser can
	// show the page that says so: browsers do not read an answer while they send.
	maxRefused = 512 << 20
)

var errMultipart = fault.New(fault.BadRequest, "The request could not be read. Reload the page and try again.")

// readPost returns the controls that the page posted. Problems with files are kept in the
// session, so that the rest of the answers is not lost.
func (pages *Pages) readPost(req *page.Request, s *fillSession) error {
	s.values = req.PostForm
	kind, params, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil
	}
	s.values = url.Values{}
	req.PostForm = s.values
	body := http.MaxBytesReader(req.W, req.Stream(), pages.multipartLimit(s))
	u := uploads{pages: pages, req: req, session: s, text: maxPartsText, body: &guardedReader{from: body}}
	return u.read(multipart.NewReader(u.body, params["boundary"]))
}

// guardedReader bounds what is read between start and stop.
type guardedReader struct {
	from    io.Reader
	guarded bool
	left    int
}

func (g *guardedReader) start(limit int) { g.guarded, g.left = true, limit }
func (g *guardedReader) stop()           { g.guarded = false }

func (g *guardedReader) Read(p []byte) (int, error) {
	if !g.guarded {
		return g.from.Read(p)
	}
	if g.left <= 0 {
		return 0, &http.MaxBytesError{Limit: maxPartHeader}
	}
	n, err := g.from.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

// multipartLimit is the largest body that can be valid, and some more.
func (pages *Pages) multipartLimit(s *fillSession) int64 {
	var files int64
	for _, f := range s.form.Definition.Fields {
		if rules, ok := pages.fileRules(f); ok {
			files += int64(rules.MaxFiles) * (rules.MaxSize + 4<<10)
		}
	}
	if files > 0 {
		files += maxRefused
	}
	return 4*maxPartsText + files // a control has a header and a boundary, too
}

// uploads reads one multipart request.
type uploads struct {
	pages   *Pages
	req     *page.Request
	session *fillSession
	body    *guardedReader
	text    int64 // bytes of text that may follow
	started bool  // a file was read
}

func (u *uploads) read(parts *multipart.Reader) error {
	for range maxParts {
		u.body.start(maxPartHeader)
		part, err := parts.NextPart()
		u.body.stop()
		if err == io.EOF { // after the last part; a body that was cut off has an error around it
			u.removeFiles()
			return nil
		}
		if err != nil {
			return multipartError(err)
		}
		if isFilePart(part) {
			err = u.file(part)
		} else {
			err = u.value(part)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, part) // what was refused
		}
		if err != nil {
			return multipartError(err)
		}
	}
	return errMultipart
}

func multipartError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.New(fault.TooLarge, "That request is too large. Shorten it and try again.")
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return errMultipart.WithCause(err)
}

// isFilePart reports whether a part is from a file input, with or without a file.
func isFilePart(part *multipart.Part) bool {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	_, named := params["filename"]
	return err == nil && named
}

func (u *uploads) value(part *multipart.Part) error {
	name := part.FormName()
	text, err := io.ReadAll(io.LimitReader(part, u.text+1))
	if err != nil {
		return err
	}
	if u.text -= int64(len(name) + len(text) + partOverhead); u.text < 0 {
		return &http.MaxBytesError{Limit: maxPartsText}
	}
	u.session.values.Add(name, string(text))
	return nil
}

// file stores a file, or notes what is wrong with it.
func (u *uploads) file(part *multipart.Part) error {
	s := u.session
	if !u.started {
		u.started = true
		if err := u.pages.continueVersion(u.req, s); err != nil {
			return err
		}
	}
	f := s.form.Definition.Field(part.FormName())
	if f == nil || part.FileName() == "" {
		return nil
	}
	rules, ok := u.pages.fileRules(f)
	if !ok || s.uploadProblems[f.Key] != "" {
		return nil
	}
	if len(f.PostedFiles(s.values)) >= rules.MaxFiles {
		text := s.catalog.Translate("add no more than 1 file")
		if rules.MaxFiles > 1 {
			text = s.catalog.Translate("add no more than %d files", rules.MaxFiles)
		}
		s.uploadProblems[f.Key] = text
		return nil
	}
	body := bufio.NewReader(part)
	if _, err := body.Peek(1); errors.Is(err, io.EOF) {
		s.uploadProblems[f.Key] = s.catalog.Translate("This file is empty.")
		return nil
	}
	stored, err := u.pages.storeFile(u.req, s, f, postedPart{part.FileName(), body})
	if err != nil {
		return u.fail(f, rules, err)
	}
	s.values.Add(f.Key, stored.FormValue())
	return nil
}

// fail keeps a problem with a file for the page. Other errors end the request.
func (u *uploads) fail(f *form.Field, rules form.FileRules, err error) error {
	if u.req.Context().Err() != nil {
		return err
	}
	s, c := u.session, u.session.catalog
	switch code := fault.Wrap(err).Code; code {
	case fault.TooLarge:
		s.uploadProblems[f.Key] = tooLargeText(rules, c)
	case fault.Invalid:
		s.uploadProblems[f.Key] = c.Translate("This type of file is not accepted.")
	case fault.QuotaReached:
		s.uploadProblems[f.Key] = c.Translate("This form can’t accept more files right now. Your other answers are still here.")
	default:
		u.pages.Site.Log.Error("could not store file", "error", err, "path", u.req.URL.Path, "request_id", u.req.W.Header().Get("X-Request-Id"))
		s.uploadProblems[f.Key] = c.Translate("We couldn’t save this file. Your other answers are still here. Choose the file again.")
	}
	return nil
}

// removeFiles drops the files that the respondent removed.
func (u *uploads) removeFiles() {
	values := u.session.values
	for _, f := range u.session.form.Definition.Fields {
		removed := f.Key + ".remove"
		if !f.Traits().Files || !values.Has(removed) {
			continue
		}
		answer := form.KindOf(f.Kind).ParseForm(f, values)
		for name := range values {
			if name == f.Key || name == removed {
				values.Del(name)
			}
		}
		for name, list := range form.FormValues(f, answer) {
			values[name] = list
		}
	}
}

// dropFiles removes the files of questions with a problem: they do not exist any more.
func (s *fillSession) dropFiles(problems page.FieldErrors) {
	for key := range problems {
		if s.form.Definition.Field(key).Traits().Files {
			s.values.Del(key)
			s.evaluated = nil
		}
	}
}

// previewFile reads a file without storing it.
func previewFile(rules form.FileRules, part postedPart) (form.File, error) {
	size, err := io.Copy(io.Discard, io.LimitReader(part.body, rules.MaxSize+1))
	if err == nil && size > rules.MaxSize {
		err = fault.New(fault.TooLarge, "The file is too large.")
	}
	return form.File{ID: "fil_" + strings.ToLower(rand.Text()), Name: part.name, Size: size}, err
}

// postedPart is a file in the request.
type postedPart struct {
	name string
	body io.Reader
}

// storeFile stores one file of the request.
func (pages *Pages) storeFile(req *page.Request, s *fillSession, f *form.Field, part postedPart) (form.File, error) {
	if s.preview {
		rules, _ := pages.fileRules(f)
		return previewFile(rules, part)
	}
	client := pages.Address(req.Request)
	if err := pages.Respond.AdmitUpload(client, nil); err != nil {
		return form.File{}, err
	}
	return pages.Respond.Upload(req.Context(), respond.Upload{Form: &s.form, Field: f.Key, Name: part.name, Body: part.body, Size: -1, Client: client})
}
