package web

import "formulary/internal/store"

const (
	newestAmong = 100 // responses that are looked through
	newestShown = 5   // answers to a question
)

// newestAnswer is what somebody wrote, and the response it stands in.
type newestAnswer struct {
	Text     string
	Response string
}

// newest are the last answers in words, by the ids of their questions: what cannot
// be counted can be read.
func (web *Web) newest(v *visit, formID string) (map[string][]newestAnswer, error) {
	list, _, err := web.Store.Responses(v.ctx(), v.person.ID, formID, store.ResponseFilter{}, newestAmong, 0)
	if err != nil {
		return nil, err
	}
	// Read after them, so that what they answered is there.
	versions, err := web.Store.Definitions(v.ctx(), v.person.ID, formID)
	if err != nil {
		return nil, err
	}
	found := map[string][]newestAnswer{}
	for _, r := range list {
		answers, err := r.Answers()
		if err != nil {
			return nil, err
		}
		for _, f := range versions[r.Version-1].Fields {
			answer, ok := answers[f.Key]
			if !ok || !f.Asked() || len(found[f.ID]) == newestShown {
				continue
			}
			if text := web.cellText(v, web.tell(v, f, f.Written(answer))); text != "" {
				found[f.ID] = append(found[f.ID], newestAnswer{text, r.ID})
			}
		}
	}
	return found, nil
}
