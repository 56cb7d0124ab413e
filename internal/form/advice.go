package form

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"formulary/internal/fault"
)

// maxAdvice limits how many details of one form are reported.
const maxAdvice = 100

// Advice lists what is allowed in a published form but is probably not intended, such as
// questions that no respondent reaches. The definition must be valid.
func (d *Definition) Advice() []fault.Detail {
	a := &adviser{definition: d, reach: d.reachability()}
	for i, f := range d.Fields {
		a.path = fmt.Sprintf("fields.%d", i)
		a.adviseField(i, f)
	}
	for i, e := range d.Endings {
		a.path = fmt.Sprintf("endings.%d", i)
		if !a.reach.endings[e.Key] {
			a.advise("title", "no respondent sees this ending; check its condition and those of the endings before it")
		}
		for property, text := range e.pipedTexts() {
			a.advisePipes(property, text, len(d.Fields))
		}
	}
	return a.details[:min(len(a.details), maxAdvice)]
}

type adviser struct {
	definition *Definition
	reach      reachability
	path       string // of the member that is being looked at
	details    []fault.Detail
}

func (a *adviser) advise(property, format string, args ...any) {
	a.details = append(a.details, fault.NewDetail(a.path+"."+property, format, args...))
}

func (a *adviser) adviseField(i int, f *Field) {
	page := a.reach.pageOf[i]
	switch {
	case f.isBreak() && !a.reach.pages[page]:
		a.advise("label", "no respondent reaches this page; check the jumps before it")
	case a.definition.isNever(f.ShowIf):
		a.advise("show_if", "this is never shown, because its condition can never be true")
	}
	if f.TakesAnswer() && f.IsVisible() {
		if strings.TrimSpace(f.Label) == "" && f.Text == "" {
			a.advise("label", "enter the question")
		}
		if f.Required && a.reach.pages[page] && a.reach.skipped[page] != "" {
			a.advise("required", "this question is required, but the jump after %q skips it", a.reach.skipped[page])
		}
	}
	if f.Total != "" && !slices.ContainsFunc(a.definition.Fields[:i], func(earlier *Field) bool { return earlier.hasAmounts(f.Total) }) {
		a.advise("total", "no earlier option has points or prices to add up")
	}
	a.adviseOptions("options", f.Options)
	a.adviseOptions("rows", f.Rows)
	for property, text := range map[string]string{"label": f.Label, "help": f.Help, "text": f.Text} {
		a.advisePipes(property, text, i)
	}
}

// adviseOptions reports labels that appear twice.
func (a *adviser) adviseOptions(property string, options []Option) {
	seen := make(map[string]bool, len(options))
	for i, o := range options {
		label := strings.ToLower(o.Label)
		if seen[label] {
			a.advise(fmt.Sprintf("%s.%d.label", property, i), "another option has the same label")
		}
		seen[label] = true
	}
}

// advisePipes reports inserted answers that can be missing and have no fallback. position is
// that of the text among the fields.
func (a *adviser) advisePipes(property, text string, position int) {
	reported := map[string]bool{}
	replacePipes(text, func(p pipe) string {
		at, known := a.reach.positions[p.key]
		if !known || p.fallback != "" || reported[p.key] || len(a.details) > maxAdvice {
			return ""
		}
		f := a.definition.Fields[at]
		isCertain := f.Required && f.ShowIf == nil && a.reach.isCertain(at, position)
		if !isCertain && !f.Traits().Calculated {
			reported[p.key] = true
			a.advise(property, "the answer to %q can be missing here; add a text to show instead", displayLabel(f))
		}
		return ""
	})
}

func displayLabel(f *Field) string {
	label, isLonger := cutAt(f.Label, 60)
	switch {
	case isLonger:
		return label + ellipsis
	case label == "":
		return f.Key
	}
	return label
}

// reachability says which pages and endings respondents can get to.
type reachability struct {
	positions   map[string]int  // of fields by key
	pageOf      []int           // of each field
	pages       []bool          // whether a page can be reached
	skipped     []string        // by page: name of a question whose jump skips it, or empty
	conditional []bool          // by page: whether it has a condition
	endings     map[string]bool // by key
}

// isCertain reports whether everybody who sees the field at a later position has seen the
// page of an earlier one.
func (r reachability) isCertain(at, later int) bool {
	page := r.pageOf[at]
	if later < len(r.pageOf) && r.pageOf[later] == page {
		return true
	}
	return r.skipped[page] == "" && !r.conditional[page]
}

func (d *Definition) reachability() reachability {
	r := reachability{positions: map[string]int{}, pageOf: make([]int, len(d.Fields)), endings: map[string]bool{}}
	count := 1
	targets := map[string]int{}
	for i, f := range d.Fields {
		if f.isBreak() {
			targets[f.Key] = count
			count++
		}
		r.positions[f.Key], r.pageOf[i] = i, count-1
	}
	r.pages, r.skipped, r.conditional = make([]bool, count), make([]string, count), make([]bool, count)
	r.pages[0] = true
	reachesEnd := d.followJumps(&r, targets)
	for _, e := range d.Endings {
		if reachesEnd && !d.isNever(e.ShowIf) {
			r.endings[e.Key] = true
			reachesEnd = e.ShowIf != nil
		}
	}
	return r
}

// followJumps marks what can be reached, page by page: jumps only go forward. It reports
// whether respondents can reach the end without a jump to an ending.
func (d *Definition) followJumps(r *reachability, targets map[string]int) bool {
	count := len(r.pages)
	falls := true // whether respondents can continue to the next page
	for i, f := range d.Fields {
		page := r.pageOf[i]
		if f.isBreak() {
			r.pages[page] = r.pages[page] || falls && r.pages[page-1]
			r.conditional[page] = f.ShowIf != nil
			falls = true
		}
		for _, jump := range f.Jumps {
			if !r.pages[page] || !falls || d.isNever(jump.If) || d.isNever(f.ShowIf) {
				continue
			}
			to, isPage := targets[jump.To]
			if isPage {
				r.pages[to] = true
			} else {
				r.endings[jump.To], to = true, count
			}
			for between := page + 1; between < to; between++ {
				r.skipped[between] = cmp.Or(r.skipped[between], displayLabel(f))
			}
			falls = jump.If != nil || f.ShowIf != nil || r.conditional[page]
		}
	}
	return falls && r.pages[count-1]
}
