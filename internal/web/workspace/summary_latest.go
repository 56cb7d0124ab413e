package workspace

import (
	"errors"

	"formulary/internal/store"
	"formulary/internal/web/page"
)

const (
	latestScan = 100 // responses that are searched
	maxLatest  = 5   // answers to each question
)

// latestAnswer is a free-text answer and the ID of its response.
type latestAnswer struct {
	Text     string
	Response string
}

// latestAnswers returns the latest free-text answers, which no chart can show, by field
// ID.
func (pages *Pages) latestAnswers(req *page.Request, formID string) (map[string][]latestAnswer, error) {
	list, _, err := pages.Store.Responses(req.Context(), req.Owner(), formID, store.ResponseFilter{}, store.Page{Limit: latestScan})
	if err != nil && !errors.Is(err, store.ErrPageTooLarge) { // the newest responses are enough
		return nil, err
	}
	// Read after the responses, so that the version of each response is there.
	versions, err := pages.Store.Definitions(req.Context(), req.Owner(), formID)
	if err != nil {
		return nil, err
	}
	found := map[string][]latestAnswer{}
	for _, r := range list {
		answers, err := r.Answers()
		if err != nil {
			return nil, err
		}
		for _, f := range versions[r.Version-1].Fields {
			answer, ok := answers[f.Key]
			if !ok || !f.HasAnswer() || len(found[f.ID]) == maxLatest {
				continue
			}
			if text := pages.cellText(req, pages.formatAnswer(req, f, f.FreeText(answer))); text != "" {
				found[f.ID] = append(found[f.ID], latestAnswer{text, r.ID})
			}
		}
	}
	return found, nil
}
