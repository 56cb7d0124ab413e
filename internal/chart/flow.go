package chart

import (
	"slices"
	"strconv"
	"strings"

	"formulary/internal/form"
)

// node is a box of the flow: a page or an ending.
type node struct {
	key    string
	title  string
	note   string
	when   string // the sentence of its condition
	ending bool
	exits  []edge
	hidden int  // exits that there was no room for
	onward bool // whether the next station may follow
	after  bool // an ending that the last page may lead to without a jump
	lines  struct{ title, note, when []string }
	y, h   float64
	entry  float64 // where jumps arrive
}

// edge is a jump out of a page.
type edge struct {
	to    int
	text  string
	lines []string
	y     float64
}

const maxExits = 12 // of one page

// Flow shows how the pages of a form follow: one box below the other, an arrow to
// the next, and at the side the jumps, each from the line that says when it is
// taken. Endings come last. word puts the words of it into a language.
func Flow(d *form.Definition, word func(string) string) string {
	if word == nil {
		word = same
	}
	f := &flow{word: word}
	if d == nil {
		d = &form.Definition{}
	}
	f.read(d)
	f.layOut()
	return f.draw()
}

type flow struct {
	word     func(string) string
	stations []*node
	pages    int
	lanes    []lane
	x, w     float64 // of every box
	height   float64
}

// count says a number in words that have a place for it.
func (f *flow) count(text string, n int) string {
	return strings.ReplaceAll(f.word(text), "%d", strconv.Itoa(n))
}

func (f *flow) read(d *form.Definition) {
	// A draft may still have holes.
	d = &form.Definition{
		Fields:  slices.DeleteFunc(slices.Clone(d.Fields), func(q *form.Field) bool { return q == nil }),
		Endings: slices.DeleteFunc(slices.Clone(d.Endings), func(e *form.Ending) bool { return e == nil }),
	}
	pages := d.Pages()
	f.pages = len(pages)
	for i, page := range pages {
		s := &node{onward: true, title: f.count("Page %d", i+1), note: f.questions(page)}
		if page.Break != nil {
			s.key, s.when = page.Break.Key, f.sentence(d, page.Break.ShowIf)
			if page.Break.Label != "" {
				s.title = withoutPiping(d, page.Break.Label)
			}
		}
		f.stations = append(f.stations, s)
	}
	f.readEndings(d)
	for i, page := range pages {
		f.readJumps(d, i, page)
	}
}

func (f *flow) questions(page form.Page) string {
	n := 0
	for _, q := range page.Fields {
		if q.TakesAnswer() && q.IsVisible() {
			n++
		}
	}
	switch n {
	case 0:
		return f.word("No questions")
	case 1:
		return f.word("1 question")
	}
	return f.count("%d questions", n)
}

// readEndings adds the endings, and the words that every form has where none of its
// own would be shown.
func (f *flow) readEndings(d *form.Definition) {
	open := true // whether somebody may still be without an ending
	for _, e := range d.Endings {
		s := &node{key: e.Key, title: withoutPiping(d, e.Title), note: withoutPiping(d, e.Redirect), when: f.sentence(d, e.ShowIf), ending: true, after: open}
		if s.title == "" {
			s.title = f.word("End")
		}
		open = open && e.ShowIf != nil
		f.stations = append(f.stations, s)
	}
	if open {
		s := &node{title: f.word("End"), ending: true, after: true}
		if len(d.Endings) > 0 {
			s.when = f.word("Otherwise")
		}
		f.stations = append(f.stations, s)
	}
}

// readJumps adds the ways out of a page, in the order in which they are tried; after
// one that is always taken there is no other.
func (f *flow) readJumps(d *form.Definition, i int, page form.Page) {
	s := f.stations[i]
	fields := page.Fields
	if page.Break != nil {
		fields = slices.Concat([]*form.Field{page.Break}, fields)
	}
	for _, q := range fields {
		for _, jump := range q.Jumps {
			if jump == nil || jump.To == "" {
				continue
			}
			to := slices.IndexFunc(f.stations, func(s *node) bool { return s.key == jump.To })
			if to <= i {
				continue
			}
			when := jump.If
			if q.ShowIf != nil && q != page.Break { // a question that is not asked leads nowhere
				when = q.ShowIf
				if jump.If != nil {
					when = &form.Condition{All: []*form.Condition{q.ShowIf, jump.If}}
				}
			}
			text := f.sentence(d, when)
			if when == nil {
				text, s.onward = f.word("Always"), false
			}
			if len(s.exits) < maxExits {
				s.exits = append(s.exits, edge{to: to, text: text})
			} else {
				s.hidden++
			}
			if when == nil {
				return
			}
		}
	}
}

func (f *flow) sentence(d *form.Definition, c *form.Condition) string {
	if c == nil {
		return ""
	}
	return f.word("If") + " " + withoutPiping(d, d.DescribeCondition(c, f.word))
}

// withoutPiping is a text with its places for answers left open.
func withoutPiping(d *form.Definition, text string) string {
	return tidy(d.Interpolate(text, func(*form.Field, string) string { return "…" }))
}

// texts are what tells the direction of the drawing: the words of the page before
// those of the form.
func (f *flow) texts() []string {
	list := []string{f.word("How the pages follow")}
	for _, s := range f.stations {
		list = append(list, s.title)
	}
	return list
}

// describe is the flow in words.
func (f *flow) describe() string {
	var parts []string
	for i, s := range f.stations {
		var next []string
		for _, e := range s.exits {
			next = append(next, f.stations[e.to].title+" ("+e.text+")")
		}
		for _, to := range f.following(i) {
			next = append(next, f.stations[to].title)
		}
		if len(next) > 0 {
			parts = append(parts, s.title+" → "+strings.Join(next, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// following are the stations that may come after one without a jump: the next page,
// or the endings that await those who come to the end.
func (f *flow) following(i int) []int {
	switch {
	case !f.stations[i].onward:
		return nil
	case i+1 < f.pages:
		return []int{i + 1}
	}
	var list []int
	for to := f.pages; to < len(f.stations); to++ {
		if f.stations[to].after {
			list = append(list, to)
		}
	}
	return list
}
