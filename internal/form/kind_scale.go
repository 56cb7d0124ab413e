package form

import "net/url"

// scale is an integer between two labeled ends. From 0 to 10 it measures a Net Promoter
// Score.
type scale struct{}

func (scale) Name() string                          { return "scale" }
func (scale) Properties() []string                  { return []string{"min", "max", "step", "low", "high"} }
func (scale) ParseForm(f *Field, in url.Values) any { return formNumber(f, in) }

func (scale) Check(f *Field, invalid func(property, format string, args ...any)) {
	fill(&f.Min, 0)
	fill(&f.Step, 1)
	fill(&f.Max, 10)
	if *f.Min != 0 && *f.Min != 1 {
		invalid("min", "a scale starts at 0 or 1; set the minimum to one of these")
	}
	if *f.Step != 1 {
		invalid("step", "a scale uses whole numbers; leave the step at 1")
	}
	if *f.Max < 2 || *f.Max > 10 || *f.Max != float64(int(*f.Max)) {
		invalid("max", "enter a whole number from 2 to 10")
	}
}

func (scale) Validate(f *Field, value any) (any, error) { return numberWithin(f, value) }
func (scale) Schema(f *Field) map[string]any            { return wholeSchema(f) }

func (scale) Traits() Traits {
	return Traits{
		Summary: AverageAndOptions, Chart: Histogram, Options: wholeNumbers, NPS: true, FixedProperties: []string{"step"},
		Group: true, Sketch: "scale", Example: exampleStep,
	}
}

func (scale) Info() KindInfo {
	return KindInfo{"Opinion scale", "A scale from 0 to 10, used for NPS", "Numbers", "scale", "NPS, net promoter score, likert, rate 0–10"}
}
