package workspace

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/web/page"
)

// formulaTrial is the result of a formula for sample answers, or its mistake.
type formulaTrial struct {
	Result  string          `json:"result"`
	Sample  []formulaSample `json:"sample"`
	Problem string          `json:"problem,omitempty"`
	From    int             `json:"from"` // the part of the formula with the mistake
	To      int             `json:"to"`
}

type formulaSample struct {
	Label  string `json:"label"`
	Answer string `json:"answer"`
}

// TryFormula runs a formula of the builder with sample answers. It does not have to be saved.
func (pages *Pages) TryFormula(req *page.Request) error {
	var in struct {
		Field      string `json:"field"` // ID
		Expression string `json:"expression"`
	}
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		return pages.sendDraftError(req, http.StatusBadRequest, fault.New(fault.BadJSON, "The draft could not be read. Reload the page and try again.").WithCause(err))
	}
	_, d, err := pages.Store.FormDraft(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	translate := func(text string) string { return pages.Site.TranslateFor(req, text) }
	trial := form.TryFormula(in.Expression, fieldsBefore(d, in.Field))
	out := formulaTrial{Sample: []formulaSample{}, From: trial.From, To: trial.To}
	if trial.Err != nil {
		out.Problem = fault.DetailOf("", trial.Err).Localize(pages.Site.Languages.Catalog(req.Language()))
		return req.SendJSON(http.StatusOK, out)
	}
	out.Result = (&form.Field{}).FormatAnswer(trial.Result, translate)
	for _, s := range trial.Sample {
		out.Sample = append(out.Sample, formulaSample{cmp.Or(s.Field.Label, s.Field.Key), s.Field.FormatAnswer(s.Answer, translate)})
	}
	return req.SendJSON(http.StatusOK, out)
}

// fieldsBefore returns the valid fields before a field, which may be unfinished.
func fieldsBefore(d *form.Definition, id string) []*form.Field {
	order := d.Fields
	if d.Unfinished != nil {
		order = d.Unfinished.Fields
	}
	earlier := map[string]bool{}
	for _, f := range order {
		if f.ID == id {
			break
		}
		earlier[f.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(d.Fields), func(f *form.Field) bool { return !earlier[f.ID] })
}
