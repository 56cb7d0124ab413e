package form

import "net/url"

// clock is a time of day.
type clock struct{ words }

func (clock) Name() string                     { return "time" }
func (clock) Properties() []string             { return []string{"earliest", "latest"} }
func (clock) Post(f *Field, in url.Values) any { return posted(f, in) }

func (clock) Check(f *Field, wrong func(property, format string, args ...any)) {
	checkMoments(f, clockFormat, wrong)
}

func (clock) Answer(f *Field, value any) (any, error) {
	return moment(f, value, clockFormat, clockFormat, errClock)
}

func (clock) Schema(*Field) map[string]any {
	return map[string]any{"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}
}

// About is how owners know it.
func (clock) About() About { return About{"Time", "A time of day", "Date and time"} }
