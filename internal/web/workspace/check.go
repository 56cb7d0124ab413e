package workspace

import (
	"net/http"

	"formulary/internal/fault"
	"formulary/internal/web/page"
)

// draftCheck is what the owner should know before publishing.
type draftCheck struct {
	Problems []fault.Detail `json:"problems"` // keep the draft from being published
	Advice   []fault.Detail `json:"advice"`   // probably not intended
}

// CheckDraft checks the draft before it is published.
func (pages *Pages) CheckDraft(req *page.Request) error {
	_, d, err := pages.Store.FormDraft(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	problems, advice := d.Check()
	translate := func(details []fault.Detail) []fault.Detail {
		return pages.Site.TranslateError(req, fault.InvalidFields(details...)).Details
	}
	return req.SendJSON(http.StatusOK, draftCheck{translate(problems), translate(advice)})
}
