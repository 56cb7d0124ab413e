package form

import (
	"fmt"
	"net/url"
)

// clock is a time of day.
type clock struct{}

func (clock) Name() string                          { return "time" }
func (clock) Properties() []string                  { return []string{"earliest", "latest"} }
func (clock) ParseForm(f *Field, in url.Values) any { return formValue(f, in) }

func (clock) Check(f *Field, invalid func(property, format string, args ...any)) {
	checkMoments(f, clockFormat, invalid)
}

func (clock) Validate(f *Field, value any) (any, error) {
	return parseMoment(f, value, clockFormat, clockFormat, errClock)
}

func (clock) Schema(*Field) map[string]any {
	return map[string]any{"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}
}

func (clock) Traits() Traits {
	return Traits{
		Input: "time", TimeLayout: clockFormat, Rules: momentRules(clockFormat, clockFormat),
		Example: func(_ *Field, s Sampler) any { return fmt.Sprintf("%02d:%02d", 8+s.Dice.IntN(10), 15*s.Dice.IntN(4)) },
	}
}

func (clock) Info() KindInfo {
	return KindInfo{"Time", "A time of day", "Date and time", "time", "clock, hour"}
}
