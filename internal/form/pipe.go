package form

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Piping: {{key}} in a label, a help text, a statement or an ending stands for
// the answer to an earlier question.
var pipePattern = regexp.MustCompile(`\{\{\s*([a-z][a-z0-9_]{0,63})\s*\}\}`)

// checkPipes says what is wrong with the references in a text.
func checkPipes(text string, before []*Field, wrong func(format string, args ...any)) {
	if !strings.Contains(text, "{{") {
		return
	}
	for _, found := range pipePattern.FindAllStringSubmatch(text, -1) {
		i := slices.IndexFunc(before, func(f *Field) bool { return f != nil && f.Key == found[1] })
		switch {
		case i < 0:
			wrong("{{%s}} is not the key of an earlier field", found[1])
		case !before[i].asked():
			wrong("{{%s}} has no answer", found[1])
		}
	}
}

// Piped puts answers into the places that a text keeps for them. say writes an
// answer, or the lack of one, as text.
func (d *Definition) Piped(text string, say func(f *Field, key string) string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return pipePattern.ReplaceAllStringFunc(text, func(place string) string {
		key := pipePattern.FindStringSubmatch(place)[1]
		return say(d.field(key), key)
	})
}

// Say is an answer as people would say it: options by their labels, lists with
// commas. word puts "yes" and "no" into the page's language, and the way in which
// dates are written.
func (f *Field) Say(answer any, word func(string) string) string {
	switch a := answer.(type) {
	case string:
		switch f.Kind {
		case (date{}).Name():
			return spoken(a, time.DateOnly, word(SpokenDate))
		case (dateTime{}).Name():
			return spoken(a, dateTimeFormat, word(SpokenDateTime))
		}
		return labelOf(f.Options, a)
	case float64:
		text := strings.Replace(formatNumber(a), ".", word("."), 1)
		if f.Unit != "" {
			text += " " + f.Unit
		}
		return text
	case bool:
		if a {
			return word("Yes")
		}
		return word("No")
	case []string:
		labels := make([]string, len(a))
		for i, value := range a {
			labels[i] = labelOf(f.Options, value)
		}
		return strings.Join(labels, ", ")
	case []any:
		return f.Say(Strings(a), word)
	case map[string]any:
		var parts []string
		for _, part := range KindOf(f.Kind).Parts(f) {
			value, ok := a[part.Value]
			if !ok {
				continue
			}
			text := f.Say(value, word)
			if f.Rows != nil {
				text = part.Label + ": " + text
			}
			parts = append(parts, text)
		}
		separator := ", "
		if f.Kind == (name{}).Name() {
			separator = " "
		}
		return strings.Join(parts, separator)
	}
	return ""
}

// Strings are the texts in a list that came from JSON.
func Strings(list []any) []string {
	texts := make([]string, 0, len(list))
	for _, v := range list {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

func labelOf(options []Option, value string) string {
	for _, o := range options {
		if o.Value == value {
			return o.Label
		}
	}
	return value
}
