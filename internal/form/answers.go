package form

import (
	"maps"
	"net/url"
	"slices"

	"formulary/internal/fault"
)

// Evaluation is what answers amount to: what is stored, what is wrong, and which
// fields are shown to somebody who answers so.
type Evaluation struct {
	Answers  map[string]any
	Problems []fault.Detail
	Shown    map[string]bool // by key; also of what is not answered
}

// Evaluate checks answers by the key of their field, in the shape that JSON has.
// A question that is not shown needs no answer, and one sent for it is dropped.
func (d *Definition) Evaluate(sent map[string]any) Evaluation {
	e := Evaluation{Answers: map[string]any{}, Shown: map[string]bool{}}
	pageShown := true
	for _, f := range d.Fields {
		shown := f.ShowIf.Holds(e.Answers)
		if f.Kind == (pageBreak{}).Name() {
			pageShown = shown
		}
		if !pageShown || !shown {
			continue
		}
		e.Shown[f.Key] = true
		if f.asked() {
			e.take(f, sent[f.Key])
		}
	}
	return e
}

func (e *Evaluation) take(f *Field, value any) {
	var answer any
	if value != nil {
		var err error
		if answer, err = KindOf(f.Kind).Answer(f, value); err != nil {
			e.Problems = append(e.Problems, fault.Detail{Field: f.Key, Message: err.Error()})
			return
		}
	}
	switch {
	case answer != nil:
		e.Answers[f.Key] = answer
	case f.Required:
		e.Problems = append(e.Problems, fault.Detail{Field: f.Key, Message: "an answer is needed"})
	}
}

// Check is Evaluate for answers that are all there is: a key that the form does
// not have is wrong too.
func (d *Definition) Check(sent map[string]any) (map[string]any, error) {
	e := d.Evaluate(sent)
	for _, key := range slices.Sorted(maps.Keys(sent)) {
		if !slices.ContainsFunc(d.Fields, func(f *Field) bool { return f.Key == key && f.asked() }) {
			e.Problems = append(e.Problems, fault.Detail{Field: key, Message: "the form has no such question"})
		}
	}
	if len(e.Problems) > 0 {
		return nil, fault.Fields(e.Problems...)
	}
	return e.Answers, nil
}

// Posted takes the answers out of an HTML post, for Evaluate. What the form does
// not ask is not looked for.
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

// Page is what is asked at one time.
type Page struct {
	Break  *Field // what begins it; nil for the first
	Fields []*Field
}

// Pages are the fields between page breaks.
func (d *Definition) Pages() []Page {
	pages := []Page{{}}
	for _, f := range d.Fields {
		if f.Kind == (pageBreak{}).Name() {
			pages = append(pages, Page{Break: f})
			continue
		}
		last := &pages[len(pages)-1]
		last.Fields = append(last.Fields, f)
	}
	return pages
}

// Shown says whether anything of the page is shown.
func (p Page) Shown(e Evaluation) bool {
	return slices.ContainsFunc(p.Fields, func(f *Field) bool { return e.Shown[f.Key] && f.Kind != (hidden{}).Name() })
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
