package form

import "net/url"

// slider is a number chosen with a slider.
type slider struct{}

func (slider) Name() string         { return "slider" }
func (slider) Properties() []string { return []string{"min", "max", "step", "unit", "low", "high"} }

// ParseForm reads the slider. A slider always has a value, so a separate checkbox means
// "no answer".
func (slider) ParseForm(f *Field, in url.Values) any {
	if in.Get(f.Key+".none") != "" {
		return nil
	}
	return formNumber(f, in)
}

// Check sets default ends, because a slider cannot work without them.
func (slider) Check(f *Field, invalid func(property, format string, args ...any)) {
	fill(&f.Min, 0)
	fill(&f.Max, 100)
	fill(&f.Step, 1)
	checkRange(f, invalid)
	if *f.Step > 0 && (*f.Max-*f.Min) / *f.Step > 10_000 {
		invalid("step", "use a larger step; a slider can have up to 10,000 steps")
	}
}

func fill(n **float64, value float64) {
	if *n == nil {
		*n = &value
	}
}

func (slider) Validate(f *Field, value any) (any, error) { return numberWithin(f, value) }
func (slider) Schema(f *Field) map[string]any            { return numberSchema(f) }

func (slider) Traits() Traits {
	return Traits{Summary: AverageAndOptions, Chart: ColumnsIfMany, Script: true, Sketch: "slider", Example: exampleStep}
}

func (slider) Info() KindInfo {
	return KindInfo{"Slider", "A number chosen on a slider", "Numbers", "slider", "range, percent"}
}
