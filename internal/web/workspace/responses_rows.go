package workspace

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

type responseRow struct {
	ID          string
	SubmittedAt time.Time
	Title       []textPart // who responded, as far as the answers tell
	Cells       []responseCell
	Found       *foundAnswer // where the search text is, if no cell shows it
	Status      form.ResponseStatus
	StatusText  string // in English
	Starred     bool
	Tags        []string
	Notes       int64
}

// responseCell is an answer in the list.
type responseCell struct {
	Text  string
	Parts []textPart
	Files []shownFile // of which the list shows pictures
	Title bool        // the title of the row shows it
}

// foundAnswer is an answer that contains the search text.
type foundAnswer struct {
	Label string
	Parts []textPart
}

// textPart is a piece of a text; Hit pieces are what was searched for.
type textPart struct {
	Text string
	Hit  bool
}

// highlight splits a text at the places where a term is in it, ignoring case.
func highlight(text string, terms []string) []textPart {
	runes := []rune(text)
	lower := lowerRunes(text)
	var parts []textPart
	start := 0
	for at := 0; at < len(lower); {
		n := 0
		for _, term := range terms {
			if t := lowerRunes(term); len(t) > n && hasRunesAt(lower, t, at) {
				n = len(t)
			}
		}
		if n == 0 {
			at++
			continue
		}
		if at > start {
			parts = append(parts, textPart{Text: string(runes[start:at])})
		}
		parts = append(parts, textPart{Text: string(runes[at : at+n]), Hit: true})
		at += n
		start = at
	}
	if start < len(runes) {
		parts = append(parts, textPart{Text: string(runes[start:])})
	}
	return parts
}

// lowerRunes keeps the number of characters.
func lowerRunes(text string) []rune {
	list := []rune(text)
	for i, r := range list {
		list[i] = unicode.ToLower(r)
	}
	return list
}

func hasRunesAt(text, part []rune, at int) bool {
	return len(part) > 0 && at+len(part) <= len(text) && slices.Equal(text[at:at+len(part)], part)
}

func hasHit(parts []textPart) bool {
	return slices.ContainsFunc(parts, func(p textPart) bool { return p.Hit })
}

const (
	maxTitle      = 80
	snippetBefore = 30 // characters before a hit
)

// around shortens a text around its first hit.
func around(text string, terms []string) []textPart {
	parts := highlight(text, terms)
	if !hasHit(parts) {
		return nil
	}
	if first := []rune(parts[0].Text); !parts[0].Hit && len(first) > snippetBefore {
		parts[0].Text = "…" + string(first[len(first)-snippetBefore:])
	}
	left := maxCell
	for i := range parts {
		runes := []rune(parts[i].Text)
		if len(runes) > left {
			parts[i].Text = string(runes[:left]) + "…"
			return parts[:i+1]
		}
		left -= len(runes)
	}
	return parts
}

// responseRows fills the rows of the list.
func (pages *Pages) responseRows(req *page.Request, p *responsesPage, versions []*form.Definition, list []form.Response) error {
	for _, r := range list {
		answers, err := r.Answers()
		if err != nil {
			return err
		}
		fields := versions[r.Version-1].ByID()
		var files map[string]store.File
		if p.HasFiles {
			if files, err = pages.fileRows(req, r); err != nil {
				return err
			}
		}
		row := responseRow{ID: r.ID, SubmittedAt: r.SubmittedAt, Status: r.Marks.Status, StatusText: statusLabels[string(r.Marks.Status)], Starred: r.Marks.Starred, Tags: r.Marks.TagList(), Notes: r.Marks.Notes}
		name := strings.Join(strings.Fields(pages.responseName(req, versions[r.Version-1], answers)), " ")
		if text := []rune(name); len(text) > maxTitle {
			row.Title = highlight(string(text[:maxTitle])+"…", p.Terms)
		} else {
			row.Title = highlight(name, p.Terms)
		}
		isShown := hasHit(row.Title)
		for _, c := range p.Columns {
			if !c.Shown {
				continue
			}
			cell := pages.cell(req, c.Column, fields[c.ID], answers, files)
			cell.Parts = highlight(cell.Text, p.Terms)
			f := fields[c.ID]
			cell.Title = name != "" && (cell.Text == name || f != nil && f.Traits().Person)
			isShown = isShown || hasHit(cell.Parts)
			row.Cells = append(row.Cells, cell)
		}
		if len(p.Terms) > 0 && !isShown {
			row.Found = p.find(fields, answers)
		}
		p.Rows = append(p.Rows, row)
	}
	return nil
}

// find returns the first answer with a term in it.
func (p *responsesPage) find(fields map[string]*form.Field, answers map[string]any) *foundAnswer {
	for _, c := range p.Columns {
		if text, ok := c.Cell(fields[c.ID], answers, true).(string); ok {
			if parts := around(text, p.Terms); parts != nil {
				return &foundAnswer{c.Label, parts}
			}
		}
	}
	return nil
}
