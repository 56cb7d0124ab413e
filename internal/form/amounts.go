package form

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Options can have points and prices. A calculation can be their total, so that scores and
// orders need no formula.

// Values of Field.Total.
const (
	TotalPoints = "points"
	TotalPrices = "prices"
)

const maxAmount = 1_000_000_000

// checkAmounts checks the points and prices of options.
func (f *Field) checkAmounts(invalid func(property, format string, args ...any)) {
	hasAmount := func(o Option) bool { return o.Points != 0 || o.Price != 0 }
	traits := f.Traits()
	isRefused := func(o Option) bool {
		return !traits.OptionLimits && (o.Price != 0 || o.Points != 0 && !traits.OptionPoints)
	}
	if slices.ContainsFunc(f.Rows, hasAmount) || slices.ContainsFunc(f.Options, isRefused) {
		invalid("options", "points and prices are not available for %s", f.Kind)
		return
	}
	for i, o := range f.Options {
		path := "options." + strconv.Itoa(i)
		if math.Abs(o.Points) > maxAmount {
			invalid(path+".points", "enter a number from -%d to %d", maxAmount, maxAmount)
		}
		if o.Price < 0 || o.Price > maxAmount {
			invalid(path+".price", "enter a number from 0 to %d", maxAmount)
		}
	}
}

// hasAmounts reports whether options of the field count towards a total.
func (f *Field) hasAmounts(total string) bool {
	return slices.ContainsFunc(f.Options, func(o Option) bool {
		return total == TotalPoints && o.Points != 0 || total == TotalPrices && o.Price != 0
	})
}

// totals are the sums of the options chosen so far.
type totals struct{ points, prices float64 }

func (t *totals) of(total string) float64 {
	if total == TotalPoints {
		return tidy(t.points)
	}
	return tidy(t.prices)
}

// add counts the options of a validated answer.
func (t *totals) add(f *Field, answer any) {
	if traits := f.Traits(); !traits.OptionLimits && !traits.OptionPoints {
		return
	}
	values := chosenValues(answer)
	if rows, ok := answer.(map[string]any); ok {
		for _, row := range f.Rows { // in their order, so that sums do not differ
			values = append(values, chosenValues(rows[row.Value])...)
		}
	}
	options := newLookup(f.Options, len(values))
	for _, value := range values {
		if at := options.find(value); at >= 0 {
			t.points += f.Options[at].Points
			t.prices += f.Options[at].Price
		}
	}
}

// chosenValues are the values of one choice or of several.
func chosenValues(answer any) []string {
	switch a := answer.(type) {
	case string:
		return []string{a}
	case []string:
		return a
	}
	return nil
}

// FormatPrice returns the price of an option with the unit of the question, or an empty text
// if it has none. Prices have two decimals or none.
func (f *Field) FormatPrice(o Option, translate func(string) string) string {
	if o.Price == 0 {
		return ""
	}
	text := formatNumber(o.Price)
	if o.Price != math.Trunc(o.Price) {
		text = strings.Replace(strconv.FormatFloat(o.Price, 'f', 2, 64), ".", translate("."), 1)
	}
	if f.Unit != "" {
		text += "\u00a0" + f.Unit
	}
	return text
}
