package form

import "net/url"

// calculated is a number or a text that the form works out of earlier answers;
// nobody fills it in.
type calculated struct{ numbers }

func (calculated) Name() string                    { return "calculated" }
func (calculated) Properties() []string            { return []string{"expression", "unit", "concealed"} }
func (calculated) Post(*Field, url.Values) any     { return nil }
func (calculated) Answer(*Field, any) (any, error) { return nil, errCalculated }

var errCalculated = problem("this answer is calculated and cannot be set")

// Check sees only that there is something; what it says is checked with the
// fields before it.
func (calculated) Check(f *Field, wrong func(property, format string, args ...any)) {
	if f.Expression == "" {
		wrong("expression", "add a formula, such as price * 2")
	}
	if f.Required {
		wrong("required", "respondents do not answer calculations; remove this property")
	}
	if f.Default != nil {
		wrong("default", "respondents do not answer calculations; remove this property")
	}
}

func (calculated) Schema(*Field) map[string]any {
	return map[string]any{"type": []string{"number", "string"}, "readOnly": true}
}

// About is how owners know it.
func (calculated) About() About {
	return About{"Calculation", "Calculated from other answers", "Layout and logic"}
}
