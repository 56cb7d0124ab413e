package web

import (
	"cmp"
	"html/template"
	"net/http"

	"formulary/internal/chart"
	"formulary/internal/form"
)

// flowPage is how the pages of a form follow each other: drawn, and in sentences.
type flowPage struct {
	formPage
	Drawing   template.HTML
	Pages     bool
	Sentences []string
}

func (web *Handler) showFlow(v *pageRequest) error {
	f, err := web.Store.Form(v.ctx(), v.owner(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	d, err := web.Store.Draft(v.ctx(), v.owner(), f.ID)
	if err != nil {
		return err
	}
	word := func(text string) string { return web.translateFor(v, text) }
	p := &flowPage{formPage: web.formPageOf(v, f, "flow"), Pages: len(d.Fields) > 0}
	p.Drawing = template.HTML(chart.Flow(d, word))
	name := func(f *form.Field) string {
		return word("“") + cmp.Or(f.Label, f.Key) + word("”")
	}
	for _, field := range d.Fields {
		if field.ShowIf != nil {
			p.Sentences = append(p.Sentences, web.translateFor(v, "Show %s if %s.", name(field), d.DescribeCondition(field.ShowIf, word)))
		}
		for _, jump := range field.Jumps {
			to := jump.To
			if target := d.Field(jump.To); target != nil {
				to = name(target)
			}
			for _, ending := range d.Endings {
				if ending.Key == jump.To && ending.Title != "" {
					to = word("“") + ending.Title + word("”")
				}
			}
			p.Sentences = append(p.Sentences, web.translateFor(v, "After the page with %s, go to %s if %s.", name(field), to, d.DescribeCondition(jump.If, word)))
		}
	}
	return web.render(v, http.StatusOK, "flow", p)
}
