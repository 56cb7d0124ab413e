package form

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxDescribed limits the text of one property, in characters.
const maxDescribed = 400

// DescribeField returns the value of a property of a field in words; it is empty if the
// property is not set.
func (d *Definition) DescribeField(f *Field, property string, translate func(string) string) string {
	switch property {
	case "show_if":
		return describeIfSet(d, f.ShowIf, translate)
	case "jumps":
		var jumps []string
		for _, jump := range f.Jumps {
			jumps = append(jumps, d.DescribeCondition(jump.If, translate)+" → "+d.targetName(jump.To))
		}
		return cutText(strings.Join(jumps, "; "))
	case "options":
		return describeOptions(f.Options, translate)
	case "rows":
		return describeOptions(f.Rows, translate)
	case "default":
		if f.Default != nil && KindOf(f.Kind) != nil {
			if text := f.FormatAnswer(f.Default, translate); text != "" {
				return cutText(text)
			}
		}
	}
	return describeJSON(f, property, translate)
}

// DescribeEnding is DescribeField for an ending.
func (d *Definition) DescribeEnding(e *Ending, property string, translate func(string) string) string {
	if property == "show_if" {
		return describeIfSet(d, e.ShowIf, translate)
	}
	return describeJSON(e, property, translate)
}

// DescribeSetting is DescribeField for the settings of a form or its design.
func DescribeSetting(settings any, property string, translate func(string) string) string {
	return describeJSON(settings, property, translate)
}

func describeIfSet(d *Definition, c *Condition, translate func(string) string) string {
	if c == nil {
		return ""
	}
	return cutText(d.DescribeCondition(c, translate))
}

// targetName returns the text of a page or an ending that jumps lead to.
func (d *Definition) targetName(key string) string {
	if f := d.field(key); f != nil && f.Label != "" {
		return f.Label
	}
	if e := d.ending(key); e != nil && e.Title != "" {
		return e.Title
	}
	return key
}

func describeOptions(options []Option, translate func(string) string) string {
	var labels []string
	length := 0
	for i, o := range options {
		if length += len(o.Label); length > maxDescribed {
			labels = append(labels, fmt.Sprintf("+%d", len(options)-i))
			break
		}
		text := o.Label
		if o.Cap > 0 {
			text += fmt.Sprintf(" (%s %d)", translate("Limit"), o.Cap)
		}
		for name, amount := range map[string]float64{"Points": o.Points, "Price": o.Price} {
			if amount != 0 {
				text += " (" + translate(name) + " " + formatDecimal(amount, translate) + ")"
			}
		}
		labels = append(labels, text)
	}
	return strings.Join(labels, ", ")
}

// describeJSON returns a property as its JSON has it, without quotes.
func describeJSON(member any, property string, translate func(string) string) string {
	raw := propertiesOf(member)[property]
	var value any
	if raw == nil || json.Unmarshal(raw, &value) != nil {
		return ""
	}
	switch v := value.(type) {
	case string:
		return cutText(v)
	case bool:
		if v {
			return translate("Yes")
		}
		return translate("No")
	case float64:
		return formatDecimal(v, translate)
	}
	return cutText(string(raw))
}

func cutText(text string) string {
	if cut, isLonger := cutAt(text, maxDescribed); isLonger {
		return cut + ellipsis
	}
	return text
}
