package form

import (
	"maps"
	"net/url"
	"slices"
	"sort"
	"strconv"

	"formulary/internal/fault"
)

// Evaluation is the result of checking a set of answers: the answers to store, the
// problems, and the fields that a respondent with these answers sees.
type Evaluation struct {
	Answers  map[string]any
	Problems []fault.Detail
	Shown    map[string]bool // by key, including unanswered fields; read-only, because evaluations may share it
	Ending   string          // key of the ending that a jump led to

	matched     int // how many of the submitted keys are questions that are shown
	facts       answerFacts
	calculation *calculation // nil before the first formula
	totals      totals
}

// Evaluate checks answers, given as decoded JSON by field key. Questions that are not
// shown need no answer, and answers to them are dropped.
func (d *Definition) Evaluate(sent map[string]any) Evaluation {
	l := d.prepared()
	answers := make(map[string]any, min(len(sent), len(l.steps)))
	e := Evaluation{Answers: answers, Shown: l.alwaysShown, facts: newAnswerFacts(answers)}
	if e.Shown == nil {
		e.Shown = make(map[string]bool, len(d.Fields))
	}
	all := len(e.Shown) > 0 // the form has no logic, so Shown is complete already
	page := true            // whether the current page is shown
	next := ""              // target of the first matching jump on this page
	target := ""            // target of a jump that is not reached yet
	for i := range l.steps {
		f := &l.steps[i]
		if f.traits.PageBreak {
			if next != "" {
				target, next = next, ""
			}
			if d.ending(target) != nil {
				e.Ending = target
				return e
			}
			if target == f.Key {
				target = ""
			}
			page = target == "" && f.ShowIf.matches(&e.facts)
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
		case f.hasAnswer:
			if value, ok := sent[f.Key]; ok {
				e.matched++
				e.addAnswer(l, f, value)
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
	if f.Total != "" {
		e.Answers[f.Key] = e.totals.of(f.Total)
		if e.calculation != nil {
			e.calculation.set(l, f.Key, e.Answers[f.Key])
		}
		return
	}
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

func (e *Evaluation) addAnswer(l *logic, f *step, value any) {
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
		if l.hasTotals {
			e.totals.add(f.Field, answer)
		}
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

// Validate is Evaluate for a complete set of answers: unknown keys are errors too.
func (d *Definition) Validate(sent map[string]any) (Evaluation, error) {
	e := d.Evaluate(sent)
	var unknown []string
	for key := range sent {
		if e.matched == len(sent) {
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
		position := make(map[string]int, len(d.Fields))
		for i, f := range d.Fields {
			position[f.Key] = i
		}
		sort.SliceStable(e.Problems, func(i, j int) bool { return position[e.Problems[i].Field] < position[e.Problems[j].Field] })
	}
	for _, key := range unknown[:min(len(unknown), maxUnknown)] {
		e.invalid(key, errUnknown)
	}
	if len(e.Problems) > 0 {
		return e, fault.InvalidFields(e.Problems...)
	}
	return e, nil
}

// maxUnknown limits how many unknown keys an error lists.
const maxUnknown = 100

// Revalidate is Validate for stored answers that were edited: calculations run again.
func (d *Definition) Revalidate(answers map[string]any) (Evaluation, error) {
	given := maps.Clone(answers)
	for key := range given {
		if f := d.Field(key); f != nil && f.Traits().Calculated {
			delete(given, key)
		}
	}
	return d.Validate(given)
}

// ParseForm reads the answers from an HTML form post, for Evaluate. It ignores unknown
// names.
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

// Page is a group of fields that are shown together.
type Page struct {
	Break  *Field // the page break that starts it; nil for the first page
	Fields []*Field
}

// Pages splits the fields at page breaks.
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

// IsVisible reports whether any field of the page is shown.
func (p Page) IsVisible(e Evaluation) bool {
	return slices.ContainsFunc(p.Fields, func(f *Field) bool { return e.Shown[f.Key] && f.IsVisible() })
}

// Schema returns the JSON Schema of a response's answers. It does not express
// conditions, so only questions that are always shown are required.
func (d *Definition) Schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	always := true // whether every respondent sees this page
	hasJumps := false
	for _, f := range d.Fields {
		if f.isBreak() {
			always = f.ShowIf == nil && !hasJumps
		}
		hasJumps = hasJumps || len(f.Jumps) > 0
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

// answerLength returns the number of values in an answer.
func answerLength(answer any) int {
	switch a := answer.(type) {
	case []any:
		return len(a)
	case []string:
		return len(a)
	}
	return 1
}

// FormValues returns an answer as the controls of the page submit it. ParseForm is the
// inverse.
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
	case []File:
		for _, file := range a {
			out.Add(f.Key, file.FormValue())
		}
	case []any:
		if files := FilesOf(a); files != nil {
			return FormValues(f, files)
		}
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
