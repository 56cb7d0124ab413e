package form

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"formulary/internal/fault"
)

// date is a calendar date.
type date struct{}

func (date) Name() string                          { return "date" }
func (date) Properties() []string                  { return []string{"earliest", "latest"} }
func (date) ParseForm(f *Field, in url.Values) any { return formDate(f, in) }

func (date) Check(f *Field, invalid func(property, format string, args ...any)) {
	checkMoments(f, time.DateOnly, invalid)
}

func (date) Validate(f *Field, value any) (any, error) {
	return parseMoment(f, value, time.DateOnly, DisplayDate, errDate)
}

func (date) Schema(*Field) map[string]any { return map[string]any{"type": "string", "format": "date"} }

// DateParts are the controls of a date, key.part. Pages show them in the order of the
// language.
var DateParts = []string{"year", "month", "day"}

// formDate reads the parts of a date, or the date as the API has it (key). Parts that are
// no date stay text, which Validate rejects.
func formDate(f *Field, in url.Values) any {
	if text := formValue(f, in); text != nil {
		return text
	}
	var parts []string
	given := false
	for _, part := range DateParts {
		text := asciiDigits(strings.TrimSpace(in.Get(f.Key + "." + part)))
		if given = given || text != ""; len(text) == 1 {
			text = "0" + text
		}
		parts = append(parts, text)
	}
	if !given {
		return nil
	}
	return strings.Join(parts, "-")
}

const (
	clockFormat    = "15:04"
	dateTimeFormat = "2006-01-02T15:04"
)

var (
	errDate     = answerError("enter a date, such as 2026-05-31")
	errClock    = answerError("enter a time, such as 17:30")
	errDateTime = answerError("enter a date and time, such as 2026-05-31T17:30")
)

// parseMoment validates a date or time in the one format that sorts as text.
func parseMoment(f *Field, value any, format, displayFormat string, invalid error) (any, error) {
	text, err := asLine(value)
	if err != nil || text == "" {
		return nil, err
	}
	if len(text) != len(format) { // a layout is as long as the times it describes
		return nil, invalid
	}
	t, err := time.Parse(format, text)
	if err != nil || t.Format(format) != text || t.Year() > 9999 {
		return nil, invalid
	}
	switch {
	case f.Earliest != "" && text < f.Earliest:
		return nil, answerError("enter %s or later", Moment{f.Earliest, format, displayFormat})
	case f.Latest != "" && text > f.Latest:
		return nil, answerError("enter %s or earlier", Moment{f.Latest, format, displayFormat})
	}
	return text, nil
}

// English display formats. They are also translation keys, so that each language can
// have its own.
const (
	DisplayDate     = "2 January 2006"
	DisplayDateTime = "2 January 2006, 15:04"
)

// Moment is a date or time inside a message.
type Moment struct {
	Text          string
	Layout        string // of the text
	DisplayLayout string // English display format
}

// Localize formats the time for the language.
func (m Moment) Localize(t fault.Translator) string {
	return displayTime(m.Text, m.Layout, t.Lookup(m.DisplayLayout))
}

// displayTime converts a stored date or time to the display format.
func displayTime(text, format, as string) string {
	if t, err := time.Parse(format, text); err == nil {
		return t.Format(as)
	}
	return text
}

// layoutLetters converts a Go layout to letters: YYYY-MM-DD.
var layoutLetters = strings.NewReplacer("2006", "YYYY", "01", "MM", "02", "DD", "15", "HH", "04", "MM")

func checkMoments(f *Field, format string, invalid func(property, format string, args ...any)) {
	for name, text := range map[string]string{"earliest": f.Earliest, "latest": f.Latest} {
		if t, err := time.Parse(format, text); text != "" && (err != nil || t.Format(format) != text) {
			invalid(name, "use the format %s", layoutLetters.Replace(format))
		}
	}
	if f.Earliest != "" && f.Latest != "" && f.Earliest > f.Latest {
		invalid("latest", "choose a date on or after the earliest")
	}
}

func (date) Traits() Traits {
	return Traits{
		Input: "date", TimeLayout: time.DateOnly, DisplayLayout: DisplayDate, Group: true, DateParts: true, Asset: "date",
		Rules: momentRules(time.DateOnly, DisplayDate),
		Example: func(_ *Field, s Sampler) any {
			return fmt.Sprintf("2027-%02d-%02d", 1+s.Dice.IntN(12), 1+s.Dice.IntN(28))
		},
	}
}

func (date) Info() KindInfo {
	return KindInfo{"Date", "A calendar date", "Date and time", "date", "calendar, day, birthday"}
}
