package page

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"formulary/internal/fault"
)

// errorPage says what went wrong.
type errorPage struct {
	Layout
	Heading   string
	Message   string
	Code      int
	RequestID string
}

// Fail sends an error as a page. It is the only function that does.
func (s *Site) Fail(req *Request, err error) {
	e := fault.Wrap(err)
	// If the client disconnected, the request failed for that reason, and there is no one to
	// send an error to.
	if req.Context().Err() != nil && (e.Code.Status() >= 500 || errors.Is(err, context.Canceled)) {
		req.W.WriteHeader(fault.ClientClosedRequest)
		return
	}
	header := req.W.Header()
	id := header.Get("X-Request-Id")
	if e.Code.Status() >= 500 {
		s.Log.Error("page failed", "error", err, "method", req.Method, "path", req.URL.Path, "request_id", id)
	}
	if e.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if e.Allow != "" {
		header.Set("Allow", e.Allow)
	}
	header.Set("Cache-Control", "no-store")
	p := errorPage{Message: s.TranslateError(req, err).Message, Code: int(e.Code)}
	switch e.Code.Status() {
	case http.StatusNotFound:
		p.Heading = "Page not found"
	case http.StatusForbidden:
		p.Heading = "Request blocked"
	case http.StatusTooManyRequests:
		p.Heading = "Too many requests"
	case http.StatusInternalServerError:
		p.Heading, p.RequestID = "Something went wrong", id
	case http.StatusServiceUnavailable:
		p.Heading, p.RequestID = "Temporarily unavailable", id
	default:
		p.Heading = "This request can’t be completed"
	}
	switch {
	case e == fault.NotFound: // has no words of its own for people
		p.Message = s.TranslateFor(req, "It may have been deleted or moved, or you may not have access to it.")
	case e.Code == fault.MissingRole:
		p.Heading = "Your role doesn’t allow this"
		p.Message = s.TranslateFor(req, "Ask an owner of the space to do this, or to give you another role.")
	}
	p.TitleKey = p.Heading
	if err := s.own.Render(req, e.Code.Status(), "error", &p); err != nil {
		s.Log.Error("could not render error page", "error", err, "request_id", id)
	}
}

// TranslateError returns a copy of an error in the language of the user.
func (s *Site) TranslateError(req *Request, err error) *fault.Error {
	e := *fault.Wrap(err)
	catalog := s.Languages.Catalog(req.Language())
	details := make([]fault.Detail, len(e.Details))
	for i, d := range e.Details {
		details[i] = fault.Detail{Field: d.Field, Message: d.Localize(catalog)}
	}
	e.Message, e.Details = e.Localize(catalog), details
	return &e
}
