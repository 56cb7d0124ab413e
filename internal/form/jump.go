package form

// Jump sends respondents from the page of its field to a later page or an ending. The
// first jump on the page whose condition matches is taken; the pages between are
// skipped.
type Jump struct {
	If *Condition `json:"if,omitempty" doc:"Condition for the jump; always taken if omitted"`
	To string     `json:"to" doc:"Key of a later page break or an ending"`
}

const maxJumps = 50

// checkJumps reports what is wrong with the jumps of the field at position i. Jumps
// only go forward, so there are no cycles. known are the fields up to this one.
func (f *Field) checkJumps(i int, known map[string]*Field, targets map[string]int, invalid func(property, format string, args ...any)) {
	if len(f.Jumps) > maxJumps {
		invalid("jumps", "add no more than %d", maxJumps)
		return
	}
	for _, jump := range f.Jumps {
		if jump == nil {
			invalid("jumps", "a jump must be an object")
			return
		}
		jump.If.check(known, func(format string, args ...any) { invalid("jumps", format, args...) }, 0)
		if targets[jump.To] <= i {
			invalid("jumps", "%q is not the key of a later page or an ending", jump.To)
		}
	}
}

// jumpTargets returns the positions of page breaks and endings by key. Endings come
// after all fields.
func (d *Definition) jumpTargets() map[string]int {
	targets := map[string]int{}
	for i, f := range d.Fields {
		if f.isBreak() {
			targets[f.Key] = i
		}
	}
	for _, e := range d.Endings {
		targets[e.Key] = len(d.Fields)
	}
	return targets
}

// jumpTarget returns the target of the first matching jump, or an empty string.
func (f *Field) jumpTarget(known *answerFacts) string {
	for _, jump := range f.Jumps {
		if jump.If.matches(known) {
			return jump.To
		}
	}
	return ""
}
