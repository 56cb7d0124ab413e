package form

import (
	"maps"
	"net/url"
	"slices"
	"strconv"

	"formulary/internal/fault"
)

// Evaluation is what answers amount to: what is stored, what is wrong, and which
// fields are shown to somebody who answers so.
type Evaluation struct {
	Answers  map[string]any
	Problems []fault.Detail
	Shown    map[string]bool // by key; also of what is not answered; only to be read
	Ending   string          // the ending that was jumped to

	met         int // so many of what was sent are answers to questions
	facts       answerFacts
	calculation *calculation // nil before the first formula
}

// Evaluate checks answers by the key of their field, in the shape that JSON has.
// A question that is not shown needs no answer, and one sent for it is dropped.
func (d *Definition) Evaluate(sent map[string]any) Evaluation {
	l := d.prepared()
	answers := make(map[string]any, min(len(sent), len(l.steps)))
	e := Evaluation{Answers: answers, Shown: l.everything, facts: newAnswerFacts(answers)}
	if e.Shown == nil {
		e.Shown = make(map[string]bool, len(d.Fields))
	}
	all := len(e.Shown) > 0 // nothing is ever hidden, and that is known already
	page := true            // whether the page is shown
	next := ""              // where the page leads, when not to the one after it
	awaited := ""           // the page that was jumped to
	for i := range l.steps {
		f := &l.steps[i]
		if f.traits.PageBreak {
			if next != "" {
				awaited, next = next, ""
			}
			if d.ending(awaited) != nil {
				e.Ending = awaited
				return e
			}
			if awaited == f.Key {
				awaited = ""
			}
			page = awaited == "" && f.ShowIf.matches(&e.facts)
		}
		if !page || !f.ShowIf.matches(&e.facts) {
			continue
		}
		if !all {
			e.Shown[f.Key] = true
		}
		switch {
		case f.traits.Calculated:
			l.calculate(f.Field, &e)
		case f.asked:
			if value, ok := sent[f.Key]; ok {
				e.met++
				e.take(l, f, value)
			} else if f.Required {
				e.invalid(f.Key, errRequired)
			}
		}
		if next == "" {
			next = f.jumpTarget(&e.facts)
		}
	}
	if d.ending(next) != nil {
		e.Ending = next
	}
	return e
}

func (l *logic) calculate(f *Field, e *Evaluation) {
	formula := l.formulas[f.Key]
	if formula == nil {
		return
	}
	c := l.calculation(e)
	if result := c.run(formula, &e.facts.budget); result != nil {
		e.Answers[f.Key] = result
		c.set(l, f.Key, result)
	}
}

func (e *Evaluation) take(l *logic, f *step, value any) {
	var answer any
	if value != nil {
		var err error
		if answer, err = f.kind.Validate(f.Field, value); err != nil {
			e.invalid(f.Key, err)
			return
		}
	}
	switch {
	case answer != nil:
		e.Answers[f.Key] = answer
		if e.calculation != nil {
			e.calculation.set(l, f.Key, answer)
		}
	case f.Required:
		e.invalid(f.Key, errRequired)
	}
}

func (e *Evaluation) invalid(key string, err error) {
	e.Problems = append(e.Problems, fault.DetailOf(key, err))
}

// Validate is Evaluate for answers that are all there is: a key that the form does
// not have is wrong too.
func (d *Definition) Validate(sent map[string]any) (Evaluation, error) {
	e := d.Evaluate(sent)
	var unknown []string
	for key := range sent {
		if e.met == len(sent) {
			break
		}
		switch f := d.Field(key); {
		case f == nil || !f.HasAnswer():
			unknown = append(unknown, key)
		case f.Traits().Calculated:
			e.invalid(key, errCalculated)
		}
	}
	slices.Sort(unknown)
	if len(e.Problems) > 0 {
		place := make(map[string]int, len(d.Fields))
		for i, f := range d.Fields {
			place[f.Key] = i
		}
		slices.SortStableFunc(e.Problems, func(a, b fault.Detail) int { return place[a.Field] - place[b.Field] })
	}
	for _, key := range unknown[:min(len(unknown), maxUnknown)] {
		e.invalid(key, errUnknown)
	}
	if len(e.Problems) > 0 {
		return e, fault.InvalidFields(e.Problems...)
	}
	return e, nil
}

// maxUnknown is how many keys that the form does not have are named.
const maxUnknown = 100

// Revalidate is Check for answers of which some were changed after they were given:
// what was calculated then is calculated anew.
func (d *Definition) Revalidate(answers map[string]any) (Evaluation, error) {
	given := maps.Clone(answers)
	for key := range given {
		if f := d.Field(key); f != nil && f.Traits().Calculated {
			delete(given, key)
		}
	}
	return d.Validate(given)
}

// ParseForm takes the answers out of an HTML post, for Evaluate. What the form does
// not ask is not looked for.
func (d *Definition) ParseForm(in url.Values) map[string]any {
	sent := map[string]any{}
	for _, f := range d.Fields {
		if !f.HasAnswer() {
			continue
		}
		if value := KindOf(f.Kind).ParseForm(f, in); value != nil {
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
		if f.isBreak() {
			pages = append(pages, Page{Break: f})
			continue
		}
		last := &pages[len(pages)-1]
		last.Fields = append(last.Fields, f)
	}
	return pages
}

// IsVisible says whether anything of the page is shown.
func (p Page) IsVisible(e Evaluation) bool {
	return slices.ContainsFunc(p.Fields, func(f *Field) bool { return e.Shown[f.Key] && f.IsVisible() })
}

// Schema is the JSON Schema of a response's answers. Conditions are not part of
// it, so only what is always asked is required.
func (d *Definition) Schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	always := true // whether everybody comes here
	leading := false
	for _, f := range d.Fields {
		if f.isBreak() {
			always = f.ShowIf == nil && !leading
		}
		leading = leading || len(f.Jumps) > 0
		schema := KindOf(f.Kind).Schema(f)
		if schema == nil {
			continue
		}
		schema["title"] = f.Label
		if f.Help != "" {
			schema["description"] = f.Help
		}
		properties[f.Key] = schema
		if f.Required && f.ShowIf == nil && always {
			required = append(required, f.Key)
		}
	}
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"properties": properties, "required": required, "additionalProperties": false,
	}
}

// answerLength is how many values an answer has.
func answerLength(answer any) int {
	switch a := answer.(type) {
	case []any:
		return len(a)
	case []string:
		return len(a)
	}
	return 1
}

// FormValues is an answer as the controls of the page would send it: what Post reads.
func FormValues(f *Field, answer any) url.Values {
	out := url.Values{}
	options := newLookup(f.Options, answerLength(answer))
	own := func(value string) string {
		if f.Other && value != "" && options.find(value) < 0 {
			out.Set(f.Key+".other", value)
			return otherValue
		}
		return value
	}
	switch a := answer.(type) {
	case string:
		out.Set(f.Key, own(a))
	case float64:
		out.Set(f.Key, formatNumber(a))
	case bool:
		out.Set(f.Key, strconv.FormatBool(a))
	case []any:
		return FormValues(f, StringSlice(a))
	case []string:
		for i, value := range a {
			if f.Traits().Ordered {
				out.Set(f.Key+"."+value, strconv.Itoa(i+1))
			} else {
				out.Add(f.Key, own(value))
			}
		}
	case map[string]any:
		for part, v := range a {
			switch v := v.(type) {
			case string:
				out.Set(f.Key+"."+part, v)
			case []string:
				out[f.Key+"."+part] = v
			case []any:
				out[f.Key+"."+part] = StringSlice(v)
			}
		}
	}
	return out
}
