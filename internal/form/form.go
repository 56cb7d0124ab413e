// Package form contains forms and their rules: definitions, answers, logic, summaries.
// It is pure; package store persists forms.
package form

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"formulary/internal/fault"
)

// Limits, in characters.
const (
	MaxTitle       = 200
	MaxDescription = 5000
)

// Status is the state of a form: draft, open or closed.
type Status string

const (
	Draft  Status = "draft"
	Open   Status = "open"
	Closed Status = "closed"
)

// Localize translates the status inside a message.
func (s Status) Localize(t fault.Translator) string { return t.Lookup(string(s)) }

// Form is a form without its definition, as in lists.
type Form struct {
	ID            string
	Title         string
	Description   string
	Language      string
	Status        Status
	Version       int64 // the published version; 0 before the first
	Revision      int64 // incremented by every change; used as the ETag
	ResponseCount int64
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Folder        string // in the list of the owner; empty: none
	Availability
}

// Address returns the last part of the form's link: the custom link if one is
// published, otherwise the ID.
func (f Form) Address() string {
	if f.Slug == "" || f.Version == 0 {
		return f.ID
	}
	return f.Slug
}

// At returns the form with its status at the given time: a form whose closing date has
// passed is closed, even if the database does not say so yet.
func (f Form) At(now time.Time) Form {
	if f.Status == Open && !f.ClosesAt.IsZero() && !now.Before(f.ClosesAt) {
		f.Status = Closed
	}
	return f
}

// Header is the title, description and language of a form.
type Header struct {
	Title       string
	Description string
	Language    string
}

// DefaultLanguage applies if a form has no language.
const DefaultLanguage = "en"

// Normalize trims and validates the header and reports every invalid field.
func (h *Header) Normalize() error {
	var details []fault.Detail
	invalid := func(field, format string, args ...any) {
		details = append(details, fault.NewDetail(field, format, args...))
	}
	h.Title = strings.TrimSpace(h.Title)
	switch n := utf8.RuneCountInString(h.Title); {
	case n == 0:
		invalid("title", "enter a title")
	case n > MaxTitle:
		invalid("title", "enter no more than %d characters", MaxTitle)
	case !strings.ContainsFunc(h.Title, func(r rune) bool { return unicode.IsPrint(r) && !unicode.IsSpace(r) }):
		invalid("title", "use at least one visible character in the title")
	case strings.ContainsFunc(h.Title, unicode.IsControl):
		invalid("title", "use one line of text, without control characters")
	}
	switch n := utf8.RuneCountInString(h.Description); {
	case n > MaxDescription:
		invalid("description", "enter no more than %d characters", MaxDescription)
	case strings.ContainsFunc(h.Description, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	}):
		invalid("description", "remove control characters other than line breaks and tabs")
	}
	if h.Language == "" {
		h.Language = DefaultLanguage
	}
	if tag, ok := ParseLanguage(h.Language); ok {
		h.Language = tag
	} else {
		invalid("language", "%q is not a valid language tag; use one such as en or pt-BR", h.Language)
	}
	if len(details) > 0 {
		return fault.InvalidFields(details...)
	}
	return nil
}

// ParseLanguage parses a BCP 47 tag and returns its canonical spelling. Unknown
// languages, scripts and regions are rejected.
func ParseLanguage(text string) (string, bool) {
	if len(text) > 35 || strings.Contains(text, "_") {
		return "", false
	}
	tag, err := language.Parse(text)
	if err != nil || tag == language.Und {
		return "", false
	}
	return tag.String(), true
}

// SearchKey returns the form of a text that is searched and sorted, so that both
// databases order alike.
func SearchKey(text string) string { return strings.ToLower(text) }
