package workspace

import (
	"slices"
	"strings"
	"unicode/utf8"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

type shownAnswer struct {
	Label   string
	Text    string
	Link    string   // if the answer is a web or email address
	Lines   []string // instead of Text: several options, or rows of a matrix
	Ordered bool     // the lines are ranked
	Meter   []bool   // a drawing of a number: one part per option, true up to the answer
	Files   []shownFile
}

// maxMeter is the largest number of options that a meter shows.
const maxMeter = 11

// addAnswers adds the answers in the order of the questions.
func (pages *Pages) addAnswers(req *page.Request, detail *responseDetail, d *form.Definition, answers map[string]any) (err error) {
	var rows map[string]store.File
	if d.HasFiles() {
		if rows, err = pages.fileRows(req, detail.Response); err != nil {
			return err
		}
	}
	texts := d.NewInterpolator(func(other *form.Field, key string) string { return pages.formatAnswer(req, other, answers[key]) })
	for _, field := range d.Fields {
		answer, ok := answers[field.Key]
		if !ok || !field.HasAnswer() {
			continue
		}
		a := pages.shownAnswer(req, field, answer)
		if a.Label = texts.Text(field.Label, nil); a.Label == "" {
			a.Label = field.Key
		}
		if field.Traits().Files {
			a.Files = pages.shownFiles(req, answer, rows)
			detail.HasFiles = detail.HasFiles || len(a.Files) > 0
			detail.Media = detail.Media || slices.ContainsFunc(a.Files, func(f shownFile) bool { return f.Player != "" })
		}
		detail.Answers = append(detail.Answers, a)
	}
	return nil
}

// shownAnswer formats one answer.
func (pages *Pages) shownAnswer(req *page.Request, field *form.Field, answer any) shownAnswer {
	traits := field.Traits()
	a := shownAnswer{Text: pages.formatAnswer(req, field, answer)}
	if traits.Link != nil {
		a.Link = traits.Link(a.Text)
	}
	switch value := answer.(type) {
	case []any:
		if traits.Files || len(value) < 2 {
			break
		}
		a.Ordered = traits.Ordered
		for _, item := range value {
			a.Lines = append(a.Lines, pages.formatAnswer(req, field, []any{item}))
		}
	case map[string]any:
		if field.Rows == nil {
			break
		}
		for _, row := range field.Parts() {
			if cell, ok := value[row.Value]; ok {
				a.Lines = append(a.Lines, row.Label+": "+pages.formatAnswer(req, field, cell))
			}
		}
	case float64:
		if traits.Options == nil {
			break
		}
		if options := traits.Options(field); len(options) <= maxMeter {
			at := slices.IndexFunc(options, func(o form.Option) bool { return o.Value == a.Text })
			for i := range options {
				a.Meter = append(a.Meter, i <= at)
			}
		}
	}
	return a
}

// maxName is the longest text that stands for the name of a respondent.
const maxName = 60

// responseName returns a name of the respondent: the answer to a question for a name, else the first
// short text. Empty: there is none.
func (pages *Pages) responseName(req *page.Request, d *form.Definition, answers map[string]any) string {
	other := ""
	for _, field := range d.Fields {
		answer, ok := answers[field.Key]
		if !ok || !field.HasAnswer() {
			continue
		}
		traits := field.Traits()
		text, isText := answer.(string)
		isShort := isText && utf8.RuneCountInString(text) <= maxName && !strings.Contains(text, "\n")
		switch {
		case traits.Person:
			return pages.formatAnswer(req, field, answer)
		case other == "" && isShort && (traits.Email || isTypedText(field)):
			other = text
		}
	}
	return other
}

// isTypedText reports whether respondents type the answer, and it is not a date or a choice.
func isTypedText(field *form.Field) bool {
	traits := field.Traits()
	return len(field.Options) == 0 && traits.TimeLayout == "" && traits.Countries == nil && !traits.Calculated && !traits.Hidden
}
