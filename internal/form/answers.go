package form

import (
	"maps"
	"net/url"
	"slices"

	"formulary/internal/fault"
)

// Check checks answers by the key of their field, in the shape that JSON has,
// and returns them as they are stored. A question that is not shown needs no
// answer, and one sent for it is dropped. Errors name the field.
func (d *Definition) Check(sent map[string]any) (map[string]any, error) {
	var details []fault.Detail
	wrong := func(key, message string) {
		details = append(details, fault.Detail{Field: key, Message: message})
	}
	answers := map[string]any{}
	known := map[string]bool{}
	pageShown := true
	for _, f := range d.Fields {
		if f.Kind == (pageBreak{}).Name() {
			pageShown = f.ShowIf.Holds(answers)
		}
		if !f.asked() {
			continue
		}
		known[f.Key] = true
		if !pageShown || !f.ShowIf.Holds(answers) {
			continue
		}
		var answer any
		if value, ok := sent[f.Key]; ok && value != nil {
			var err error
			if answer, err = KindOf(f.Kind).Answer(f, value); err != nil {
				wrong(f.Key, err.Error())
				continue
			}
		}
		switch {
		case answer != nil:
			answers[f.Key] = answer
		case f.Required:
			wrong(f.Key, "an answer is needed")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sent)) {
		if !known[key] {
			wrong(key, "the form has no such question")
		}
	}
	if len(details) > 0 {
		return nil, fault.Fields(details...)
	}
	return answers, nil
}

// Posted takes the answers out of an HTML post, for Check. What the page did not
// ask is not looked for.
func (d *Definition) Posted(in url.Values) map[string]any {
	sent := map[string]any{}
	for _, f := range d.Fields {
		if !f.asked() {
			continue
		}
		if value := KindOf(f.Kind).Post(f, in); value != nil {
			sent[f.Key] = value
		}
	}
	return sent
}

// Schema is the JSON Schema of a response's answers. Conditions are not part of
// it, so only what is always asked is required.
func (d *Definition) Schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range d.Fields {
		schema := KindOf(f.Kind).Schema(f)
		if schema == nil {
			continue
		}
		schema["title"] = f.Label
		if f.Help != "" {
			schema["description"] = f.Help
		}
		properties[f.Key] = schema
		if f.Required && f.ShowIf == nil {
			required = append(required, f.Key)
		}
	}
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"properties": properties, "required": required, "additionalProperties": false,
	}
}
