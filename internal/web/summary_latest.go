package web

import (
	"errors"

	"formulary/internal/store"
)

const (
	latestScan = 100 // responses that are looked through
	maxLatest  = 5   // answers to a question
)

// latestAnswer is what somebody wrote, and the response it stands in.
type latestAnswer struct {
	Text     string
	Response string
}

// latestAnswers are the last answers in words, by the ids of their questions: what cannot
// be counted can be read.
func (web *Handler) latestAnswers(v *pageRequest, formID string) (map[string][]latestAnswer, error) {
	list, _, err := web.Store.Responses(v.ctx(), v.owner(), formID, store.ResponseFilter{}, store.Page{Limit: latestScan})
	if err != nil && !errors.Is(err, store.ErrPageTooLarge) { // the newest of them are enough
		return nil, err
	}
	// Read after them, so that what they answered is there.
	versions, err := web.Store.Definitions(v.ctx(), v.owner(), formID)
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
			if text := web.cellText(v, web.formatAnswer(v, f, f.FreeText(answer))); text != "" {
				found[f.ID] = append(found[f.ID], latestAnswer{text, r.ID})
			}
		}
	}
	return found, nil
}
