package form

import "slices"

// Screens returns what respondents see at a time: pages, or single questions with the
// layout one_at_a_time. Questions keep the page break of their page.
func (d *Definition) Screens() []Page {
	pages := d.Pages()
	if d.Design.Layout != OneAtATime {
		return pages
	}
	screens := make([]Page, 0, len(d.Fields))
	var hidden []*Field // those before the next visible field, which share its screen
	for _, page := range pages {
		for _, f := range page.Fields {
			if hidden = append(hidden, f); f.IsVisible() {
				screens = append(screens, Page{Break: page.Break, Fields: hidden})
				hidden = nil
			}
		}
	}
	if len(screens) == 0 {
		return []Page{{Fields: hidden}}
	}
	last := &screens[len(screens)-1]
	last.Fields = append(last.Fields, hidden...)
	return screens
}

// Progress is how far a respondent has come.
type Progress struct {
	Answered  int // questions with an answer
	Reachable int // questions that the answers so far lead to
	Position  int // of the first question on the screen among the reachable ones, from 1; 0: it has none
}

// ProgressAt counts the questions of the screens. Default answers count only on screens
// that the respondent has left behind.
func ProgressAt(screens []Page, e Evaluation, number int) Progress {
	var p Progress
	for i := range screens {
		for _, f := range screens[i].Fields {
			if !f.TakesAnswer() || !f.IsVisible() || !e.Shown[f.Key] {
				continue
			}
			p.Reachable++
			if _, ok := e.Answers[f.Key]; ok && (f.Default == nil || i < number) {
				p.Answered++
			}
			if i == number && p.Position == 0 {
				p.Position = p.Reachable
			}
		}
	}
	return p
}

// CanChangeAfter reports whether answers on the screen or on later ones can still change
// which of the later screens are visible.
func CanChangeAfter(screens []Page, number int) bool {
	open := map[string]bool{} // questions that are answered from now on
	for i := number; i < len(screens); i++ {
		if i > number && screens[i].dependsOn(open) {
			return true
		}
		jumps := false
		for _, f := range screens[i].Fields {
			open[f.Key] = true
			jumps = jumps || len(f.Jumps) > 0
		}
		if jumps && i+1 < len(screens) {
			return true
		}
	}
	return false
}

// dependsOn reports whether the answers to the questions decide if the page is visible.
func (p Page) dependsOn(questions map[string]bool) bool {
	refers := func(f *Field) (found bool) {
		f.ShowIf.Fields(func(key string) { found = found || questions[key] })
		return found
	}
	if p.Break != nil && refers(p.Break) {
		return true
	}
	return !slices.ContainsFunc(p.Fields, func(f *Field) bool { return f.IsVisible() && !refers(f) })
}
