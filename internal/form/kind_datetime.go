package form

import (
	"fmt"
	"net/url"
	"strings"
)

// dateTime is a date and time of day without time zone.
type dateTime struct{}

func (dateTime) Name() string         { return "datetime" }
func (dateTime) Properties() []string { return []string{"earliest", "latest"} }

// ParseForm reads the parts of a date and the time (key.time), or both as the API has
// them (key).
func (dateTime) ParseForm(f *Field, in url.Values) any {
	if text := formValue(f, in); text != nil {
		return text
	}
	day, clock := formDate(f, in), strings.TrimSpace(in.Get(f.Key+".time"))
	if day == nil && clock == "" {
		return nil
	}
	text, _ := day.(string)
	return text + "T" + clock
}

func (dateTime) Check(f *Field, invalid func(property, format string, args ...any)) {
	checkMoments(f, dateTimeFormat, invalid)
}

func (dateTime) Validate(f *Field, value any) (any, error) {
	return parseMoment(f, value, dateTimeFormat, DisplayDateTime, errDateTime)
}

func (dateTime) Schema(*Field) map[string]any {
	return map[string]any{"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]$"}
}

func (dateTime) Traits() Traits {
	return Traits{
		Input: "datetime-local", TimeLayout: dateTimeFormat, DisplayLayout: DisplayDateTime, Group: true, DateParts: true, Asset: "date",
		Rules: momentRules(dateTimeFormat, DisplayDateTime),
		Example: func(_ *Field, s Sampler) any {
			return fmt.Sprintf("2027-%02d-%02dT%02d:00", 1+s.Dice.IntN(12), 1+s.Dice.IntN(28), 8+s.Dice.IntN(10))
		},
	}
}

func (dateTime) Info() KindInfo {
	return KindInfo{"Date and time", "A date with a time", "Date and time", "datetime", "appointment, calendar"}
}
