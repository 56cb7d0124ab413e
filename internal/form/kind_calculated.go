package form

import "net/url"

// calculated is a number or text that a formula computes from earlier answers, or the total
// of the points or prices of the options chosen before.
type calculated struct{}

func (calculated) Name() string                      { return "calculated" }
func (calculated) Properties() []string              { return []string{"total", "expression", "unit", "concealed"} }
func (calculated) ParseForm(*Field, url.Values) any  { return nil }
func (calculated) Validate(*Field, any) (any, error) { return nil, errCalculated }

var errCalculated = answerError("this answer is calculated and cannot be set")

// Check only requires an expression. checkReferences compiles it, with the fields
// before it.
func (calculated) Check(f *Field, invalid func(property, format string, args ...any)) {
	switch {
	case f.Total != "" && f.Total != TotalPoints && f.Total != TotalPrices:
		invalid("total", "use points or prices")
	case f.Total != "" && f.Expression != "":
		invalid("total", "use either a total or a formula")
	case f.Total == "" && f.Expression == "":
		invalid("expression", "add a formula, such as price * 2")
	}
	if f.Required {
		invalid("required", "respondents do not answer calculations; remove this property")
	}
	if f.Default != nil {
		invalid("default", "respondents do not answer calculations; remove this property")
	}
}

func (calculated) Schema(*Field) map[string]any {
	return map[string]any{"type": []string{"number", "string"}, "readOnly": true}
}

func (calculated) Traits() Traits { return Traits{Summary: Average, Calculated: true, Script: true} }

func (calculated) Info() KindInfo {
	return KindInfo{"Calculation", "Calculated from other answers", "Layout and logic", "sum", "formula, total, score, price, sum"}
}
