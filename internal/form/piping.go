package form

import (
	"cmp"
	"slices"
	"strings"
)

// Piping: {{key}} in a label, help text, statement or ending inserts the answer to an
// earlier question. {{key|text}} inserts the text if there is no answer.

// pipe is a reference to an answer.
type pipe struct {
	key      string
	fallback string // inserted if there is no answer
}

// maxFallback limits the text of a fallback, in bytes.
const maxFallback = 400

// replacePipes replaces every reference. A page can have thousands of them, so it does
// not use a regular expression.
func replacePipes(text string, with func(pipe) string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	var out strings.Builder
	rest := text
	for {
		at := strings.Index(rest, "{{")
		if at < 0 {
			break
		}
		found, length := pipeAt(rest[at:])
		if length == 0 { // the second brace may start a reference
			out.WriteString(rest[:at+1])
			rest = rest[at+1:]
			continue
		}
		out.WriteString(rest[:at])
		out.WriteString(with(found))
		rest = rest[at+length:]
	}
	out.WriteString(rest)
	return out.String()
}

// pipeAt parses a reference at the start of a text that starts with {{. The length is 0 if
// it is not a reference.
func pipeAt(text string) (found pipe, length int) {
	const spaces = " \t\n\f\r"
	inner := strings.TrimLeft(text[2:], spaces)
	end := 0
	for end < len(inner) && (inner[end] >= 'a' && inner[end] <= 'z' || end > 0 && (inner[end] >= '0' && inner[end] <= '9' || inner[end] == '_')) {
		end++
	}
	after := strings.TrimLeft(inner[end:], spaces)
	if end == 0 || end > 64 {
		return pipe{}, 0
	}
	found.key = inner[:end]
	if rest, ok := strings.CutPrefix(after, "|"); ok {
		// It ends at the first brace or line break, so that a missing end costs little.
		length := strings.IndexAny(rest[:min(len(rest), maxFallback+1)], "{}\r\n")
		if length < 0 {
			return pipe{}, 0
		}
		found.fallback, after = strings.Trim(rest[:length], spaces), rest[length:]
	}
	if !strings.HasPrefix(after, "}}") {
		return pipe{}, 0
	}
	return found, len(text) - len(after) + 2
}

// checkPipes reports unknown references in a text.
func checkPipes(text string, before map[string]*Field, problem func(format string, args ...any)) {
	replacePipes(text, func(p pipe) string {
		switch f := before[p.key]; {
		case f == nil:
			problem("{{%s}} is not the key of an earlier question", p.key)
		case !f.HasAnswer():
			problem("{{%s}} has no answer to insert", p.key)
		}
		return ""
	})
}

// UnknownPipes returns the keys in a text that have no answer to insert, each once.
func (d *Definition) UnknownPipes(text string) (keys []string) {
	replacePipes(text, func(p pipe) string {
		if f := d.Field(p.key); (f == nil || !f.HasAnswer()) && !slices.Contains(keys, p.key) {
			keys = append(keys, p.key)
		}
		return ""
	})
	return keys
}

// FormatAnswer returns an answer for display: options by their labels, lists with
// commas. translate is applied to "yes", "no" and date formats.
func (f *Field) FormatAnswer(answer any, translate func(string) string) string {
	switch a := answer.(type) {
	case string:
		if t := f.Traits(); t.DisplayLayout != "" {
			return displayTime(a, t.TimeLayout, translate(t.DisplayLayout))
		}
		return optionLabel(f.Options, a)
	case float64:
		text := formatDecimal(a, translate)
		if f.Unit != "" {
			text += " " + f.Unit
		}
		return text
	case bool:
		if a {
			return translate("Yes")
		}
		return translate("No")
	case []string:
		return strings.Join(labels(f.Options, a), ", ")
	case []File:
		return strings.Join(fileNames(a), ", ")
	case []any:
		if files := FilesOf(a); files != nil {
			return f.FormatAnswer(files, translate)
		}
		return f.FormatAnswer(StringSlice(a), translate)
	case map[string]any:
		var parts []string
		for _, part := range f.Parts() {
			value, ok := a[part.Value]
			if !ok {
				continue
			}
			text := f.FormatAnswer(value, translate)
			if f.Rows != nil {
				text = part.Label + ": " + text
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, cmp.Or(f.Traits().PartSeparator, ", "))
	}
	return ""
}

// StringSlice returns the strings in a list from JSON.
func StringSlice(list []any) []string {
	texts := make([]string, 0, len(list))
	for _, v := range list {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

func optionLabel(options []Option, value string) string { return newLookup(options, 1).label(value) }

// cutAt cuts the text after most characters and reports whether it was longer.
func cutAt(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	count := 0
	for at := range text {
		if count == most {
			return text[:at], true
		}
		count++
	}
	return text, false
}
