package form

// Jump leads on from the page on which its field is shown: to a later page, or to
// an ending. The first jump of the page whose condition holds is taken; what lies
// between is not asked.
type Jump struct {
	If *Condition `json:"if,omitempty" doc:"When the jump is taken; always, when left out"`
	To string     `json:"to" doc:"Key of a later page break, or of an ending"`
}

const maxJumps = 50

// checkJumps says what is wrong with the jumps of a field; only what comes later
// can be jumped to, so nobody goes round in circles.
func (d *Definition) checkJumps(i int, wrong func(property, format string, args ...any)) {
	f := d.Fields[i]
	if len(f.Jumps) > maxJumps {
		wrong("jumps", "at most %d", maxJumps)
		return
	}
	for _, jump := range f.Jumps {
		if jump == nil {
			wrong("jumps", "a jump is an object")
			return
		}
		jump.If.check(d.Fields[:i+1], func(format string, args ...any) { wrong("jumps", format, args...) }, 0)
		if !d.later(i, jump.To) {
			wrong("jumps", "%q is not the key of a later page or of an ending", jump.To)
		}
	}
}

func (d *Definition) later(i int, to string) bool {
	for _, f := range d.Fields[i+1:] {
		if f != nil && f.Key == to && f.isBreak() {
			return true
		}
	}
	return d.ending(to) != nil
}

// leads is where the field leads on to with these answers, or nothing.
func (f *Field) leads(answers map[string]any) string {
	for _, jump := range f.Jumps {
		if jump.If.Holds(answers) {
			return jump.To
		}
	}
	return ""
}
