package form

import (
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"formulary/internal/fault"
)

// number is a number within limits.
type number struct{}

func (number) Name() string                          { return "number" }
func (number) Properties() []string                  { return []string{"placeholder", "min", "max", "step", "unit"} }
func (number) ParseForm(f *Field, in url.Values) any { return formNumber(f, in) }

func (number) Check(f *Field, invalid func(property, format string, args ...any)) {
	checkRange(f, invalid)
}

func (number) Validate(f *Field, value any) (any, error) { return numberWithin(f, value) }
func (number) Schema(f *Field) map[string]any            { return numberSchema(f) }

// maxMagnitude is the largest integer that is exact in every JSON implementation.
const maxMagnitude = 1<<53 - 1

// maxNumber is the maximum length of a number, in bytes.
const maxNumber = 400

// formNumber parses a number with a decimal comma or point. Anything else stays text,
// which Validate rejects.
func formNumber(f *Field, in url.Values) any {
	text := strings.TrimSpace(in.Get(f.Key))
	if text == "" {
		return nil
	}
	if len(text) > maxNumber {
		return text
	}
	if n, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64); err == nil {
		return n
	}
	return text
}

// NormalizeNumber converts typed numbers such as 1.234,50 or 1,234.50 or 1 234,5 to Go
// syntax. sign is the decimal sign of the language. Text that is not a number is
// returned more or less unchanged.
func NormalizeNumber(text, sign string) string {
	if len(text) > maxNumber {
		return text
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || r == '\'' || r == '’' || r == '٬':
			return -1 // thousands separator
		case r == '٫':
			return []rune(sign)[0]
		case r == '−':
			return '-'
		}
		return r
	}, asciiDigits(text))
	other := map[string]string{".": ",", ",": "."}[sign]
	switch at, otherAt := strings.LastIndex(text, sign), strings.LastIndex(text, other); {
	case at >= 0 && otherAt >= 0 && otherAt > at:
		sign, other = other, sign
		fallthrough
	case at >= 0 && otherAt >= 0:
		text = strings.ReplaceAll(text, other, "")
	case thousands.MatchString(text) && (otherAt >= 0 || strings.Count(text, sign) > 1):
		return strings.NewReplacer(".", "", ",", "").Replace(text)
	}
	return strings.Replace(text, ",", ".", 1)
}

// asciiDigits replaces Arabic and Persian digits.
func asciiDigits(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '٠' && r <= '٩':
			return r - '٠' + '0'
		case r >= '۰' && r <= '۹':
			return r - '۰' + '0'
		}
		return r
	}, text)
}

// thousands matches digits in groups of three.
var thousands = regexp.MustCompile(`^[+-]?\d{1,3}([.,]\d{3})+$`)

func numberWithin(f *Field, value any) (any, error) {
	n, ok := value.(float64)
	if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, errNumber
	}
	switch {
	case math.Abs(n) > maxMagnitude:
		return nil, answerError("enter a number of %s or less", Decimal(maxMagnitude))
	case f.Min != nil && n < *f.Min:
		return nil, answerError("enter a number of %s or more", Decimal(*f.Min))
	case f.Max != nil && n > *f.Max:
		return nil, answerError("enter a number of %s or less", Decimal(*f.Max))
	}
	if f.Step != nil {
		from := 0.0
		if f.Min != nil {
			from = *f.Min
		}
		steps := (n - from) / *f.Step
		if math.Abs(steps-math.Round(steps)) > 1e-6 {
			return nil, betweenSteps(f, from+math.Floor(steps)**f.Step, from+math.Ceil(steps)**f.Step)
		}
	}
	return value, nil
}

// betweenSteps returns an error that names the nearest valid values.
func betweenSteps(f *Field, below, above float64) error {
	exact := func(n float64) Decimal { return Decimal(math.Round(n*1e6) / 1e6) }
	if f.Max != nil && above > *f.Max {
		return answerError("enter a nearby value, such as %s", exact(below))
	}
	return answerError("enter a nearby value, such as %s or %s", exact(below), exact(above))
}

// Decimal is a number inside a message.
type Decimal float64

// Localize writes the number with the decimal sign of the language.
func (n Decimal) Localize(t fault.Translator) string { return formatDecimal(float64(n), t.Lookup) }

// formatDecimal writes a number with the decimal sign of the language.
func formatDecimal(n float64, translate func(string) string) string {
	return strings.Replace(formatNumber(n), ".", translate("."), 1)
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// checkRange validates the limits themselves.
func checkRange(f *Field, invalid func(property, format string, args ...any)) {
	for name, n := range map[string]*float64{"min": f.Min, "max": f.Max, "step": f.Step} {
		if n != nil && (math.IsNaN(*n) || math.Abs(*n) > maxMagnitude) {
			invalid(name, "enter a number no higher than %d", int64(maxMagnitude))
		}
	}
	if f.Min != nil && f.Max != nil && *f.Min > *f.Max {
		invalid("max", "enter a number no lower than the minimum")
	}
	if f.Step != nil && *f.Step <= 0 {
		invalid("step", "enter a number greater than 0")
	}
}

func numberSchema(f *Field) map[string]any {
	schema := map[string]any{"type": "number", "minimum": -float64(maxMagnitude), "maximum": float64(maxMagnitude)}
	if f.Min != nil {
		schema["minimum"] = *f.Min
	}
	if f.Max != nil {
		schema["maximum"] = *f.Max
	}
	return schema
}

func (number) Traits() Traits {
	return Traits{Summary: Average, Decimal: true, Rules: numberRules, Example: func(f *Field, s Sampler) any {
		least := 1.0
		if f.Min != nil {
			least = *f.Min
		}
		return least + float64(s.Dice.IntN(4))
	}}
}

func (number) Info() KindInfo {
	return KindInfo{"Number", "A number, with optional limits", "Numbers", "number", "amount, quantity, integer, price"}
}
