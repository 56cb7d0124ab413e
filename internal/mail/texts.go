package mail

import (
	"strings"
	"time"

	"formulary/internal/form"
	"formulary/internal/locale"
)

// Texts translates what a mail says.
type Texts struct {
	languages locale.Languages
	catalog   locale.Catalog
	language  string
}

// Texts returns the texts in a language.
func (w *Writer) Texts(language string) Texts {
	return Texts{w.languages, w.languages.Catalog(language), language}
}

// T translates a text.
func (t Texts) T(text string, args ...any) string { return t.catalog.Translate(text, args...) }

// Lang is the language that the mail is in.
func (t Texts) Lang() string {
	if t.catalog.IsEmpty() {
		return "en"
	}
	return t.language
}

// Dir is the direction of the language.
func (t Texts) Dir() string { return locale.Direction(t.Lang()) }

// Start is the side where lines start. Texts of owners and respondents start there too, whatever
// their own direction.
func (t Texts) Start() string {
	if t.Dir() == "rtl" {
		return "right"
	}
	return "left"
}

// DateTime formats a time in a time zone, which it names.
func (t Texts) DateTime(at time.Time, zone *time.Location) string {
	at = at.In(zone)
	return at.Format(t.T(form.DisplayDateTime)) + " " + at.Format("MST")
}

// FormatAnswer returns an answer for display, as on pages.
func (t Texts) FormatAnswer(f *form.Field, answer any) string {
	text := f.FormatAnswer(t.languages.WithCountryNames(t.language, f, answer), func(text string) string { return t.T(text) })
	return strings.ReplaceAll(text, "\r\n", "\n")
}
