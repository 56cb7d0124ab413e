package chart

import (
	"slices"
	"strconv"
	"strings"

	"formulary/internal/form"
)

// node is a box of the flow: a page or an ending.
type node struct {
	key           string
	title         string
	note          string
	condition     string // the condition as a sentence; empty: none
	ending        bool
	edges         []edge
	hiddenEdges   int                                       // jumps beyond maxEdges
	continues     bool                                      // false if the page always jumps
	afterLastPage bool                                      // an ending that can follow the last page without a jump
	lines         struct{ title, note, condition []string } // wrapped texts
	y, h          float64
	entryY        float64 // y coordinate at which jumps arrive
}

// edge is a jump out of a page.
type edge struct {
	to    int      // index of the target node
	text  string   // the condition as a sentence
	lines []string // text, wrapped
	y     float64
}

// maxEdges is the maximum number of jumps that are drawn for one page.
const maxEdges = 12

// Flow draws the pages, conditions and jumps of a form. Each page is a box with an arrow
// to the next one. Jumps run along the side, each from the line with its condition.
// Endings come last. translate translates the texts of the drawing; nil: English.
func Flow(d *form.Definition, translate func(string) string) string {
	if translate == nil {
		translate = identity
	}
	f := &flow{translate: translate}
	if d == nil {
		d = &form.Definition{}
	}
	f.readDefinition(d)
	f.layOut()
	return f.draw()
}

// flow is a flow chart while it is laid out and drawn.
type flow struct {
	translate func(string) string
	nodes     []*node // pages, then endings
	pages     int     // how many of the nodes are pages
	lanes     []lane
	x, w      float64 // position and width of every box
	height    float64
}

// formatCount translates a text and replaces %d by a number.
func (f *flow) formatCount(text string, n int) string {
	return strings.ReplaceAll(f.translate(text), "%d", strconv.Itoa(n))
}

func (f *flow) readDefinition(d *form.Definition) {
	// Drafts can contain nil fields and endings.
	d = &form.Definition{
		Fields:  slices.DeleteFunc(slices.Clone(d.Fields), func(q *form.Field) bool { return q == nil }),
		Endings: slices.DeleteFunc(slices.Clone(d.Endings), func(e *form.Ending) bool { return e == nil }),
	}
	pages := d.Pages()
	f.pages = len(pages)
	for i, page := range pages {
		n := &node{continues: true, title: f.formatCount("Page %d", i+1), note: f.describeQuestionCount(page)}
		if page.Break != nil {
			n.key, n.condition = page.Break.Key, f.describeCondition(d, page.Break.ShowIf)
			if page.Break.Label != "" {
				n.title = withoutPiping(d, page.Break.Label)
			}
		}
		f.nodes = append(f.nodes, n)
	}
	f.readEndings(d)
	for i, page := range pages {
		f.readJumps(d, i, page)
	}
}

func (f *flow) describeQuestionCount(page form.Page) string {
	n := 0
	for _, q := range page.Fields {
		if q.TakesAnswer() && q.IsVisible() {
			n++
		}
	}
	switch n {
	case 0:
		return f.translate("No questions")
	case 1:
		return f.translate("1 question")
	}
	return f.formatCount("%d questions", n)
}

// readEndings adds the endings, and the default ending if a response can match none of
// them.
func (f *flow) readEndings(d *form.Definition) {
	reachable := true // whether no unconditional ending came before
	for _, e := range d.Endings {
		n := &node{key: e.Key, title: withoutPiping(d, e.Title), note: withoutPiping(d, e.Redirect), condition: f.describeCondition(d, e.ShowIf), ending: true, afterLastPage: reachable}
		if n.title == "" {
			n.title = f.translate("End")
		}
		reachable = reachable && e.ShowIf != nil
		f.nodes = append(f.nodes, n)
	}
	if reachable {
		n := &node{title: f.translate("End"), ending: true, afterLastPage: true}
		if len(d.Endings) > 0 {
			n.condition = f.translate("Otherwise")
		}
		f.nodes = append(f.nodes, n)
	}
}

// readJumps adds the jumps of page i in the order in which they are evaluated. It ignores
// those after an unconditional jump, because they are never taken.
func (f *flow) readJumps(d *form.Definition, i int, page form.Page) {
	n := f.nodes[i]
	fields := page.Fields
	if page.Break != nil {
		fields = slices.Concat([]*form.Field{page.Break}, fields)
	}
	for _, q := range fields {
		for _, jump := range q.Jumps {
			if jump == nil || jump.To == "" {
				continue
			}
			to := slices.IndexFunc(f.nodes, func(n *node) bool { return n.key == jump.To })
			if to <= i {
				continue
			}
			condition := jump.If
			if q.ShowIf != nil && q != page.Break { // a hidden question does not jump
				condition = q.ShowIf
				if jump.If != nil {
					condition = &form.Condition{All: []*form.Condition{q.ShowIf, jump.If}}
				}
			}
			text := f.describeCondition(d, condition)
			if condition == nil {
				text, n.continues = f.translate("Always"), false
			}
			if len(n.edges) < maxEdges {
				n.edges = append(n.edges, edge{to: to, text: text})
			} else {
				n.hiddenEdges++
			}
			if condition == nil {
				return
			}
		}
	}
}

func (f *flow) describeCondition(d *form.Definition, c *form.Condition) string {
	if c == nil {
		return ""
	}
	return f.translate("If") + " " + withoutPiping(d, d.DescribeCondition(c, f.translate))
}

// withoutPiping returns a text with each inserted answer replaced by an ellipsis.
func withoutPiping(d *form.Definition, text string) string {
	return cleanLine(d.Interpolate(text, func(*form.Field, string) string { return "…" }))
}

// directionTexts returns the texts that decide the direction of the drawing. The language
// of the reader comes before that of the form.
func (f *flow) directionTexts() []string {
	list := []string{f.translate("Form flow")}
	for _, n := range f.nodes {
		list = append(list, n.title)
	}
	return list
}

// describe returns the flow as text, for screen readers.
func (f *flow) describe() string {
	var parts []string
	for i, n := range f.nodes {
		var next []string
		for _, e := range n.edges {
			next = append(next, f.nodes[e.to].title+" ("+e.text+")")
		}
		for _, to := range f.successors(i) {
			next = append(next, f.nodes[to].title)
		}
		if len(next) > 0 {
			parts = append(parts, n.title+" → "+strings.Join(next, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// successors returns the nodes that can follow node i without a jump: the next page, or
// the endings after the last page.
func (f *flow) successors(i int) []int {
	switch {
	case !f.nodes[i].continues:
		return nil
	case i+1 < f.pages:
		return []int{i + 1}
	}
	var list []int
	for to := f.pages; to < len(f.nodes); to++ {
		if f.nodes[to].afterLastPage {
			list = append(list, to)
		}
	}
	return list
}
