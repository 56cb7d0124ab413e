package page

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"

	"formulary/internal/account"
	"formulary/internal/compress"
	"formulary/internal/locale"
	"formulary/internal/store"
)

// Request is one request for a page.
//
// It keeps the owner, whose data the page shows, apart from the user, who acts. What
// belongs to an account (forms and responses) is read by Owner; what belongs to a user
// (sessions, applications, grants) is read by User.ID.
type Request struct {
	*http.Request
	W       http.ResponseWriter
	RawBody io.ReadCloser // the body without the limit of the route, for handlers with a limit of their own
	User    *account.User // who is signed in, or nil
	Session account.Session
	Access  account.Access // to the space whose data the page shows; zero: it shows none
	// AllLanguages says that the page is translated to all languages of forms and mails, and
	// not only to those of the workspace.
	AllLanguages bool
}

// Owner is the account whose forms and responses the page shows: the space that the user has
// entered or, on pages about the user, their own. Only routes that require a user may call it.
func (req *Request) Owner() string {
	if req.Access.Space != "" {
		return req.Access.Space
	}
	return req.User.ID
}

// FormID is the form that the page is about; empty: it is about none.
func (req *Request) FormID() string {
	switch _, path, _ := strings.Cut(req.Pattern, " "); {
	case strings.HasPrefix(path, "/forms/{id}"):
		return req.PathValue("id")
	case path == "/live":
		return req.URL.Query().Get("form")
	}
	return ""
}

// Context replaces the context of the HTTP request with one that counts database work
// towards the account whose data the page shows.
func (req *Request) Context() context.Context {
	if req.User == nil {
		return req.Request.Context()
	}
	return store.ForAccount(req.Request.Context(), req.Owner())
}

// SetActor says who causes the changes of the request, for the audit log.
func (req *Request) SetActor(user account.User, address netip.Addr) {
	req.Request = req.Request.WithContext(store.WithActor(req.Request.Context(), store.Actor{
		Kind: store.ActorPerson, PersonID: user.ID, PersonName: user.DisplayName(), Address: address,
	}))
}

// Limits of how long a body may take that Stream reads.
const (
	streamTimeout = 30 * time.Second // for the next bytes
	streamStart   = time.Minute
	minimumRate   = 4 << 10 // bytes per second after the start
)

// Stream reads the body without the limit of the route, for as long as the client keeps
// sending. The server's own deadline is for short bodies.
func (req *Request) Stream() io.ReadCloser {
	return &stream{ReadCloser: req.RawBody, control: http.NewResponseController(req.W), start: time.Now()}
}

type stream struct {
	io.ReadCloser
	control *http.ResponseController
	start   time.Time
	read    int64
}

func (s *stream) Read(p []byte) (int, error) {
	until := time.Now().Add(streamTimeout)
	if last := s.start.Add(streamStart + time.Duration(s.read/minimumRate)*time.Second); last.Before(until) {
		until = last
	}
	s.control.SetReadDeadline(until)
	s.control.SetWriteDeadline(until.Add(streamTimeout))
	n, err := s.ReadCloser.Read(p)
	s.read += int64(n)
	return n, err
}

// Field is a value that a form on the page posted.
func (req *Request) Field(name string) string { return req.PostForm.Get(name) }

// InAllLanguages is for pages that people reach from a mail: they are translated to the same
// languages as mails.
func InAllLanguages(handle func(*Request) error) func(*Request) error {
	return func(req *Request) error {
		req.AllLanguages = true
		return handle(req)
	}
}

// Language is the language of the page for this request: that of the user's account, or that
// of the browser for visitors. It is always one that the page is translated to.
func (req *Request) Language() string {
	if req.AllLanguages {
		return req.PreferredLanguage()
	}
	tag := req.Header.Get("Accept-Language")
	if req.User != nil {
		tag = req.User.Language
	}
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	base, _, _ = strings.Cut(base, ",")
	base, _, _ = strings.Cut(base, ";")
	if locale.WorkspaceLanguages[base] {
		return base
	}
	return "en"
}

// PreferredLanguage is the language for mails: that of the user's account, or the first of the
// browser that mails are translated to.
func (req *Request) PreferredLanguage() string {
	wanted := req.Header.Get("Accept-Language")
	if req.User != nil {
		wanted = req.User.Language
	}
	tags, _, _ := language.ParseAcceptLanguage(wanted)
	for _, tag := range tags {
		base, _ := tag.Base()
		for _, known := range locale.FormLanguages {
			if known[0] == base.String() {
				return base.String()
			}
		}
	}
	return "en"
}

// Redirect sends the browser to another address with a GET.
func (req *Request) Redirect(to string) error {
	req.W.Header().Set("Location", to)
	req.W.WriteHeader(http.StatusSeeOther)
	return nil
}

// SendJSON answers a script on a page.
func (req *Request) SendJSON(status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req.W.Header().Set("Content-Type", "application/json")
	req.W.WriteHeader(status)
	req.W.Write(text) // the client may have disconnected
	return nil
}

// These header values never differ, so they are allocated once.
var htmlType = []string{"text/html; charset=utf-8"}

// SendHTML answers with a page in one or more parts.
func (req *Request) SendHTML(status int, policy []string, parts ...[]byte) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	header := req.W.Header()
	header["Content-Type"] = htmlType
	header["Content-Security-Policy"] = policy
	if zipped, ok := req.W.(*compress.Writer); ok && len(parts) == 1 {
		zipped.Whole(status, parts[0])
		return
	}
	header["Content-Length"] = []string{strconv.Itoa(size)}
	req.W.WriteHeader(status)
	if req.Method == http.MethodHead {
		return
	}
	for _, part := range parts {
		req.W.Write(part) // the client may have disconnected
	}
}
