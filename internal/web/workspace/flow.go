package workspace

import (
	"cmp"
	"html/template"
	"net/http"

	"formulary/internal/chart"
	"formulary/internal/form"
	"formulary/internal/web/page"
)

// flowPage shows pages, conditions and jumps as a drawing and in sentences.
type flowPage struct {
	formLayout
	Drawing   template.HTML
	Pages     bool
	Sentences []flowSentence
}

// flowSentence is a condition or a jump in words, with the key of its question.
type flowSentence struct{ Text, Key string }

// ShowFlow shows the flow of the draft.
func (pages *Pages) ShowFlow(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	d, err := pages.Store.Draft(req.Context(), req.Owner(), f.ID)
	if err != nil {
		return err
	}
	translate := func(text string) string { return pages.Site.TranslateFor(req, text) }
	p := &flowPage{formLayout: pages.newFormLayout(f, "flow"), Pages: len(d.Fields) > 0}
	p.Drawing = template.HTML(chart.Flow(d, translate))
	name := func(f *form.Field) string {
		return translate("“") + cmp.Or(f.Label, f.Key) + translate("”")
	}
	for _, field := range d.Fields {
		if field.ShowIf != nil {
			p.Sentences = append(p.Sentences, flowSentence{pages.Site.TranslateFor(req, "Show %s if %s.", name(field), d.DescribeCondition(field.ShowIf, translate)), field.Key})
		}
		for _, jump := range field.Jumps {
			to := jump.To
			if target := d.Field(jump.To); target != nil {
				to = name(target)
			}
			for _, ending := range d.Endings {
				if ending.Key == jump.To && ending.Title != "" {
					to = translate("“") + ending.Title + translate("”")
				}
			}
			p.Sentences = append(p.Sentences, flowSentence{pages.Site.TranslateFor(req, "After the page with %s, go to %s if %s.", name(field), to, d.DescribeCondition(jump.If, translate)), field.Key})
		}
	}
	return pages.templates.Render(req, http.StatusOK, "flow", p)
}
