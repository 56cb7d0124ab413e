// Package form knows what a form is: its definition and the rules for it. It
// is pure; where forms are kept is the store's business.
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

// Status is where a form is in its life.
type Status string

const (
	Draft  Status = "draft"
	Open   Status = "open"
	Closed Status = "closed"
)

// Localize is the status in a message.
func (s Status) Localize(word func(string) string) string { return word(string(s)) }

// Form is a form as its owner sees it in a list.
type Form struct {
	ID            string
	Title         string
	Description   string
	Language      string
	Status        Status
	Version       int64 // the published version; 0 before the first
	Revision      int64 // counts every change; the ETag
	ResponseCount int64
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Availability
}

// Address is the last part of the address of the form's page: the custom link, once the form
// is published with it.
func (f Form) Address() string {
	if f.Slug == "" || f.Version == 0 {
		return f.ID
	}
	return f.Slug
}

// At is the form with the status that it has at the moment: a closing date that
// has passed closes it before anybody notes it down.
func (f Form) At(now time.Time) Form {
	if f.Status == Open && !f.ClosesAt.IsZero() && !now.Before(f.ClosesAt) {
		f.Status = Closed
	}
	return f
}

// Header is the part of a form that describes it.
type Header struct {
	Title       string
	Description string
	Language    string
}

// DefaultLanguage is a form's language when none is given.
const DefaultLanguage = "en"

// Normalize trims and checks a head and says what is wrong, field by field.
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

// ParseLanguage reads a BCP 47 tag and returns its canonical spelling. Unknown
// languages, scripts and regions are refused.
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

// SearchKey is the form of a text under which it is searched and sorted, the same on
// every database.
func SearchKey(text string) string { return strings.ToLower(text) }
