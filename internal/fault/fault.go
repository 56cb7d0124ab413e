// Package fault defines the errors that leave Formulary: every error code is listed in
// this file, with its HTTP status.
//
// Rules and stores return or wrap a *fault.Error. Handlers return it, and one function in
// package api and one in package web write it. Any other error is a failure of ours, and
// clients see it as 500001.
package fault

import (
	"errors"
	"fmt"
)

// Code is the HTTP status × 1000 plus a number, so the two cannot disagree.
type Code int

// Status returns the HTTP status of the code.
func (c Code) Status() int { return int(c) / 1000 }

const (
	BadQuery             Code = 400001
	BadJSON              Code = 400002
	BadRequest           Code = 400003 // an invalid page request or HTTP header
	InvalidRequest       Code = 400101 // OAuth
	InvalidGrant         Code = 400102 // OAuth
	UnsupportedGrant     Code = 400103 // OAuth
	InvalidScope         Code = 400104 // OAuth
	UnauthorizedClient   Code = 400105 // OAuth
	InvalidToken         Code = 401001
	NoAuthorization      Code = 401003
	NotBearer            Code = 401004
	ExpiredToken         Code = 401005
	UserNotFound         Code = 401006
	InvalidClient        Code = 401101 // OAuth
	MissingScope         Code = 403001
	MissingRole          Code = 403002 // in the space
	Forbidden            Code = 403003 // pages only: a forged or outdated form post
	UnknownPath          Code = 404001
	NotFoundInAccount    Code = 404002
	MethodNotAllowed     Code = 405001
	Conflict             Code = 409001
	IdempotencyKeyReused Code = 409002
	FormNotOpen          Code = 409003
	QuotaReached         Code = 409004
	FileBlocked          Code = 409005 // not scanned for malware yet, or infected
	TooLarge             Code = 413001
	UnsupportedMedia     Code = 415001
	BadRange             Code = 416001
	Invalid              Code = 422001
	RateLimited          Code = 429001
	Internal             Code = 500001
	DatabaseUnreachable  Code = 503001
)

// Detail describes what is wrong with one field of the input.
type Detail struct {
	Field   string `json:"field" doc:"Field the error refers to"`
	Message string `json:"message" doc:"What is wrong and how to fix it"`

	// Text is the message before it is rendered, for pages in other languages. If it is
	// nil, they show the English message.
	Text *Message `json:"-"`
}

// NewDetail describes what is wrong with a field.
func NewDetail(field, format string, args ...any) Detail {
	return DetailOf(field, Messagef(format, args...))
}

// DetailOf returns the message of an error as a detail of a field.
func DetailOf(field string, err error) Detail {
	text := MessageOf(err)
	return Detail{Field: field, Message: text.Error(), Text: text}
}

// Error contains what clients may see (Code, Message, Details) and what only the log
// may contain (Cause).
type Error struct {
	Code    Code
	Message string
	Details []Detail
	Cause   error

	// Text is the message before it is rendered, as in Detail.
	Text *Message

	// RetryAfter is in seconds; 0: no Retry-After header.
	RetryAfter int
	// Challenge replaces the WWW-Authenticate header of a 401.
	Challenge string
	// Allow lists the allowed methods, for a 405.
	Allow string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s", e.Code, e.Message)
	for _, d := range e.Details {
		text += fmt.Sprintf("; %s: %s", d.Field, d.Message)
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Cause }

// Is makes errors.Is compare codes, so that messages can be reworded freely.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// New returns an error that clients may see.
func New(code Code, format string, args ...any) *Error {
	text := Messagef(format, args...)
	return &Error{Code: code, Message: text.Error(), Text: text}
}

// WithCause adds a cause for the log. Like the other With methods it modifies the
// error, which must be new.
func (e *Error) WithCause(cause error) *Error {
	e.Cause = cause
	return e
}

// WithAllow sets the allowed methods of a 405.
func (e *Error) WithAllow(methods string) *Error {
	e.Allow = methods
	return e
}

// WithRetryAfter tells clients to retry after the given number of seconds.
func (e *Error) WithRetryAfter(seconds int) *Error {
	e.RetryAfter = seconds
	return e
}

// NotFound is also returned for data of other accounts.
var NotFound = New(NotFoundInAccount, "Not found in this account.")

// InvalidField returns a 422001 about one field.
func InvalidField(field, format string, args ...any) *Error {
	return InvalidFields(NewDetail(field, format, args...))
}

// InvalidFields returns a 422001 about several fields, with the message of the first.
func InvalidFields(details ...Detail) *Error {
	e := New(Invalid, "Some values are not valid.")
	if len(details) > 0 {
		first := details[0]
		e = New(Invalid, "%s: %s", first.Field, first.text())
	}
	e.Details = details
	return e
}

// TooManyRequests tells clients to retry after the given number of seconds.
func TooManyRequests(seconds int) *Error {
	if seconds <= 1 {
		return New(RateLimited, "Too many requests. Try again in 1 second.").WithRetryAfter(1)
	}
	return New(RateLimited, "Too many requests. Try again in %d seconds.", seconds).WithRetryAfter(seconds)
}

// DatabaseUnavailable is returned while the database cannot be used.
func DatabaseUnavailable(cause error) *Error {
	return New(DatabaseUnreachable, "The service is temporarily unavailable. Try again in a moment.").WithCause(cause).WithRetryAfter(2)
}

// StorageUnavailable is returned while files cannot be stored or read, with the code of
// DatabaseUnavailable.
func StorageUnavailable(cause error) *Error { return DatabaseUnavailable(cause) }

// ClientClosedRequest is the status of a request whose client disconnected. Only the
// log shows it.
const ClientClosedRequest = 499

// Wrap converts any error into one that can be sent: unknown errors become 500001 with
// the cause for the log.
func Wrap(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return New(Internal, "Something went wrong on our side.").WithCause(err)
}

// OAuthName returns the error name of RFC 6749 for a code.
func OAuthName(c Code) string {
	switch c {
	case InvalidGrant:
		return "invalid_grant"
	case UnsupportedGrant:
		return "unsupported_grant_type"
	case InvalidScope:
		return "invalid_scope"
	case UnauthorizedClient:
		return "unauthorized_client"
	case InvalidClient:
		return "invalid_client"
	case Internal:
		return "server_error"
	case RateLimited, DatabaseUnreachable:
		return "temporarily_unavailable"
	default:
		return "invalid_request"
	}
}
