package reference

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/form"
)

// exampleWidth is the longest line of an example before an object or a list in it is
// broken into lines.
const exampleWidth = 56

// exampleBase is the base URL in the document, which is the same for all installations.
const exampleBase = "https://forms.example"

// pair is a property of an example; a map would lose the order.
type pair struct {
	name  string
	value any
}

// object is an example of an object.
type object []pair

// example returns a valid value: an example of the document if there is one, or else a
// plausible value. Objects have their required properties and those with examples.
func (d *document) example(s *schema, within ...*schema) any {
	examples, s := s.Examples, d.resolve(s)
	if examples = append(examples, s.Examples...); len(examples) > 0 {
		return examples[0]
	}
	switch s.Type {
	case "object":
		list := object{}
		for _, name := range s.names() {
			p := s.Properties[name]
			if !slices.Contains(within, s) && (slices.Contains(s.Required, name) || d.hasExamples(p)) {
				list = append(list, pair{name, d.example(p, append(within, s)...)})
			}
		}
		return list
	case "array":
		if s.Items == nil || !d.hasExamples(s.Items) {
			return []any{}
		}
		return []any{d.example(s.Items, within...)}
	case "boolean":
		return true
	case "integer", "number":
		return 1
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.Format {
	case "date-time":
		return "2026-05-31T17:30:00Z"
	case "date":
		return "2026-05-31"
	}
	return "…"
}

// hasExamples reports whether the document has examples of the value or of one of its
// properties.
func (d *document) hasExamples(s *schema) bool {
	if len(s.Examples) > 0 {
		return true
	}
	s = d.resolve(s)
	if s.Items != nil {
		s = d.resolve(s.Items)
	}
	for _, p := range s.Properties {
		if len(p.Examples) > 0 {
			return true
		}
	}
	return len(s.Examples) > 0
}

// errorExample is the body of an error.
func errorExample(code fault.Code, oauth bool) object {
	message := fault.NotFound.Message
	if code != fault.NotFoundInAccount {
		message = strings.ReplaceAll(errorMeaning(code), "`", "")
	}
	list := object{{"errorCode", int(code)}, {"message", message}}
	if oauth {
		list = append(object{{"error", fault.OAuthName(code)}, {"error_description", message}}, list...)
	}
	return list
}

// inputError is the body of a validation error: that of a form without a title.
func inputError() object {
	e := fault.Wrap((&form.Header{Language: "en"}).Normalize())
	var details []any
	for _, d := range e.Details {
		details = append(details, object{{"field", d.Field}, {"message", d.Message}})
	}
	return object{{"errorCode", int(e.Code)}, {"message", e.Message}, {"details", details}}
}

// formatExample formats an example as JSON. What fits into one line stays in one.
func formatExample(value any, indent string) string {
	line := formatLine(value)
	if len(indent)+len(line) <= exampleWidth {
		return line
	}
	deeper := indent + "  "
	var parts []string
	switch value := value.(type) {
	case object:
		for _, p := range value {
			parts = append(parts, deeper+formatLine(p.name)+": "+formatExample(p.value, deeper))
		}
		return "{\n" + strings.Join(parts, ",\n") + "\n" + indent + "}"
	case []any:
		for _, entry := range value {
			parts = append(parts, deeper+formatExample(entry, deeper))
		}
		return "[\n" + strings.Join(parts, ",\n") + "\n" + indent + "]"
	}
	return line
}

func formatLine(value any) string {
	var parts []string
	switch value := value.(type) {
	case object:
		for _, p := range value {
			parts = append(parts, formatLine(p.name)+": "+formatLine(p.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case map[string]any:
		var list object
		for name, entry := range value {
			list = append(list, pair{name, entry})
		}
		sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
		return formatLine(list)
	case []any:
		for _, entry := range value {
			parts = append(parts, formatLine(entry))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return "…"
	}
	return strings.TrimSpace(out.String())
}

// plainValue matches values that need no quotes in a shell and no escapes in a form.
var plainValue = regexp.MustCompile(`^[\w.…-]+$`)

// curl is the request as a command. The token is a variable, so that it is set once and
// does not stay in the history of the shell.
func (d *document) curl(base, method, path string, op *documented) string {
	query := url.Values{}
	for _, p := range op.Parameters {
		if len(p.Schema.Examples) == 0 {
			continue
		}
		value := strings.Trim(formatLine(p.Schema.Examples[0]), `"`)
		switch p.In {
		case "path":
			path = strings.Replace(path, "{"+p.Name+"}", value, 1)
		case "query":
			query.Set(p.Name, value)
		}
	}
	if len(query) > 0 {
		path += "?" + strings.ReplaceAll(query.Encode(), "%3A", ":") // valid in a query, and easier to read
	}
	media, body := op.Body.media()
	lines := []string{`curl "` + base + path + `"`}
	if method != "GET" && (method != "POST" || body == nil) {
		lines[0] = `curl -X ` + method + ` "` + base + path + `"`
	}
	if op.Security != nil {
		lines = append(lines, `-H "Authorization: Bearer $TOKEN"`)
	}
	switch {
	case body == nil:
	case media == "application/x-www-form-urlencoded":
		sent, _ := d.example(body).(object)
		for _, p := range sent {
			text := strings.Trim(formatLine(p.value), `"`)
			if plainValue.MatchString(text) {
				lines = append(lines, "-d "+p.name+"="+text)
			} else {
				lines = append(lines, "--data-urlencode "+p.name+"="+text)
			}
		}
	default:
		sent := strings.ReplaceAll(formatExample(d.example(body), "  "), "'", `'\''`)
		lines = append(lines, `-H "Content-Type: `+media+`"`, "-d '"+sent+"'")
	}
	return strings.Join(lines, " \\\n  ")
}
