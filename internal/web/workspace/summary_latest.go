package workspace

import (
	"errors"
	"strings"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

const (
	latestScan = 100                   // responses that are searched for the latest answers
	maxLatest  = 5                     // answers to each question
	maxFound   = 20                    // answers with the text that was searched for
	textBudget = 40 * time.Millisecond // how long a request searches
)

// textAnswer is a free-text answer.
type textAnswer struct {
	Parts    []textPart
	Response string // ID
	Who      string // as far as the answers tell
	At       time.Time
}

// foundTexts are free-text answers, which no chart can show.
type foundTexts struct {
	latest map[string][]textAnswer // by field ID
	key    string                  // question in which the user searches, or empty
	find   string
	found  []textAnswer
	more   bool // there are more, or not all responses were searched
}

// textAnswers returns the latest free-text answers, and those that the user searches for.
func (pages *Pages) textAnswers(req *page.Request, p *summaryPage) (foundTexts, error) {
	out := foundTexts{latest: map[string][]textAnswer{}}
	if p.wrong != nil {
		return out, nil
	}
	list, err := pages.newestResponses(req, p)
	if err != nil {
		return out, err
	}
	// Read after the responses, so that the version of each response is there.
	versions, err := pages.Store.Definitions(req.Context(), req.Owner(), p.Form.ID)
	if err != nil {
		return out, err
	}
	for _, r := range list {
		if err := pages.addTexts(req, out.latest, versions[r.Version-1], r); err != nil {
			return out, err
		}
	}
	query := req.URL.Query()
	if out.key, out.find = searchText(query.Get("in")), strings.TrimSpace(searchText(query.Get("find"))); out.key == "" || out.find == "" {
		return out, nil
	}
	return out, pages.searchTexts(req, p, &out)
}

func (pages *Pages) newestResponses(req *page.Request, p *summaryPage) ([]form.Response, error) {
	if p.query.isFiltered() {
		found, err := pages.Store.ScanResponses(req.Context(), req.Owner(), p.Form.ID, p.query.filter, store.Scan{Rows: latestScan, Budget: textBudget})
		return found.Responses, err
	}
	list, _, err := pages.Store.Responses(req.Context(), req.Owner(), p.Form.ID, store.ResponseFilter{}, store.Page{Limit: latestScan})
	if errors.Is(err, store.ErrPageTooLarge) { // the newest responses are enough
		err = nil
	}
	return list, err
}

// addTexts adds the free-text answers of a response.
func (pages *Pages) addTexts(req *page.Request, to map[string][]textAnswer, d *form.Definition, r form.Response) error {
	answers, err := r.Answers()
	if err != nil {
		return err
	}
	name := ""
	for _, f := range d.Fields {
		answer, ok := answers[f.Key]
		if !ok || !f.HasAnswer() || len(to[f.ID]) == maxLatest {
			continue
		}
		if text := pages.cellText(req, pages.formatAnswer(req, f, f.FreeText(answer))); text != "" {
			if name == "" {
				name = pages.respondent(req, d, answers)
			}
			to[f.ID] = append(to[f.ID], newTextAnswer([]textPart{{Text: text}}, text, name, r))
		}
	}
	return nil
}

// respondent returns the name or the email address of a respondent, or nothing.
func (pages *Pages) respondent(req *page.Request, d *form.Definition, answers map[string]any) string {
	mail := ""
	for _, f := range d.Fields {
		answer, ok := answers[f.Key]
		switch traits := f.Traits(); {
		case !ok:
		case traits.Person:
			return pages.cellText(req, pages.formatAnswer(req, f, answer))
		case traits.Email && mail == "":
			mail = pages.cellText(req, answer)
		}
	}
	return mail
}

func newTextAnswer(parts []textPart, text, name string, r form.Response) textAnswer {
	if name == text {
		name = "" // it would only repeat the answer
	}
	return textAnswer{Parts: parts, Response: r.ID, Who: name, At: r.SubmittedAt}
}

// searchTexts finds the answers to one question that contain a text.
func (pages *Pages) searchTexts(req *page.Request, p *summaryPage, out *foundTexts) error {
	filter := p.query.filter
	conditions, err := pages.Store.AnswerFilters(req.Context(), req.Owner(), p.Form.ID, []store.Comparison{{Field: out.key, Op: form.Contains, Value: out.find}})
	if _, wrong := errors.AsType[*store.FilterError](err); wrong {
		out.key = ""
		return nil
	}
	if err != nil {
		return err
	}
	filter.Answers = append(filter.Answers[:len(filter.Answers):len(filter.Answers)], conditions...)
	part, err := pages.Store.ScanResponses(req.Context(), req.Owner(), p.Form.ID, filter, store.Scan{Rows: maxFound, Budget: textBudget})
	if err != nil {
		return err
	}
	out.more = part.Next != "" || part.Matches > int64(len(part.Responses))
	versions, err := pages.Store.Definitions(req.Context(), req.Owner(), p.Form.ID)
	if err != nil {
		return err
	}
	for _, r := range part.Responses {
		answers, err := r.Answers()
		if err != nil {
			return err
		}
		d := versions[r.Version-1]
		for _, f := range d.Fields {
			if answer, ok := answers[f.Key]; ok && f.Key == out.key && f.HasAnswer() {
				text := pages.formatAnswer(req, f, answer)
				if parts := around(text, []string{out.find}); parts != nil {
					out.found = append(out.found, newTextAnswer(parts, text, pages.respondent(req, d, answers), r))
				}
			}
		}
	}
	return nil
}

// addTexts adds the free-text answers of a question.
func (s *questionSummary) addTexts(p *summaryPage, f *form.Field, texts foundTexts) {
	s.Texts = texts.latest[f.ID]
	s.Search = f.IsOpenText() && s.Answered > 0
	if !s.Search || f.Key != texts.key {
		return
	}
	if s.Find, s.Texts = texts.find, texts.found; texts.more {
		s.More = p.linkToResponses(store.Comparison{Field: f.Key, Op: form.Contains, Value: texts.find})
	}
}
