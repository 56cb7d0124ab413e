package form

import "net/url"

// rating is a number of stars.
type rating struct{}

func (rating) Name() string                          { return "rating" }
func (rating) Properties() []string                  { return []string{"min", "max", "step", "low", "high"} }
func (rating) ParseForm(f *Field, in url.Values) any { return formNumber(f, in) }

// Check sets the fixed properties: ratings start at 1 and are integers.
func (rating) Check(f *Field, invalid func(property, format string, args ...any)) {
	fill(&f.Min, 1)
	fill(&f.Step, 1)
	fill(&f.Max, 5)
	if *f.Min != 1 {
		invalid("min", "a rating starts at 1; set the minimum to 1")
	}
	if *f.Step != 1 {
		invalid("step", "a rating uses whole numbers; leave the step at 1")
	}
	if *f.Max < 2 || *f.Max > 10 || *f.Max != float64(int(*f.Max)) {
		invalid("max", "enter a whole number from 2 to 10")
	}
}

func (rating) Validate(f *Field, value any) (any, error) { return numberWithin(f, value) }

func (rating) Schema(f *Field) map[string]any { return wholeSchema(f) }

// wholeNumbers returns an option for every integer in the range.
func wholeNumbers(f *Field) []Option {
	var list []Option
	for n := *f.Min; n <= *f.Max; n++ {
		list = append(list, Option{Value: formatNumber(n), Label: formatNumber(n)})
	}
	return list
}

func wholeSchema(f *Field) map[string]any {
	schema := numberSchema(f)
	schema["type"] = "integer"
	return schema
}

func (rating) Traits() Traits {
	return Traits{
		Summary: AverageAndOptions, Chart: Histogram, Options: wholeNumbers, FixedProperties: []string{"min", "step"},
		Group: true, Sketch: "stars", Example: exampleStep,
	}
}

func (rating) Info() KindInfo {
	return KindInfo{"Rating", "A star rating", "Numbers", "star", "stars, score, review"}
}
