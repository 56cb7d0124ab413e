package form

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"formulary/internal/fault"
)

// Theme is a design with a name, to be used in several forms.
type Theme struct {
	Name   string
	Design Design
}

// MaxThemeName is the number of characters that the name of a theme may have.
const MaxThemeName = 100

// Normalize validates a theme and fills in what follows from it.
func (t *Theme) Normalize() error {
	var details []fault.Detail
	t.Name = strings.TrimSpace(t.Name)
	switch n := utf8.RuneCountInString(t.Name); {
	case n == 0 || !strings.ContainsFunc(t.Name, func(r rune) bool { return unicode.IsPrint(r) && !unicode.IsSpace(r) }):
		details = append(details, fault.NewDetail("name", "enter a name"))
	case n > MaxThemeName:
		details = append(details, fault.NewDetail("name", "enter no more than %d characters", MaxThemeName))
	case strings.ContainsFunc(t.Name, unicode.IsControl) || !utf8.ValidString(t.Name):
		details = append(details, fault.NewDetail("name", "use one line without control characters"))
	}
	d := Definition{Design: t.Design}
	details = append(details, d.checkDesign()...)
	t.Design = d.Design
	if len(details) > 0 {
		return fault.InvalidFields(details...)
	}
	return nil
}

// ApplyTo returns a form's design with that of the theme. The layout is a matter of the form:
// it stays, unless the theme has one.
func (t Theme) ApplyTo(d Design) Design {
	out := t.Design
	if out.Layout == "" {
		out.Layout = d.Layout
	}
	return out
}
