package workspace

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// responsePage is one response.
type responsePage struct {
	formLayout
	Detail    *responseDetail
	Newer     string
	Older     string
	Retention store.Retention
}

// responseDetail is what the template response-detail shows. Pages that use it have a field
// Detail, and load the files of detailAssets.
type responseDetail struct {
	Response  form.Response
	Name      string // of the respondent, as far as the answers tell
	Answers   []shownAnswer
	HasFiles  bool
	Statuses  []statusButton
	Tags      []string
	OtherTags []string // tags of the form that the response does not have
	Notes     []shownNote
	EditedAt  time.Time
	Seconds   int64 // that the form was open
	Media     bool  // it has recordings or films
	Problem   string
}

// detailAssets are the static files for the template response-detail.
var detailAssets = []string{"response.css", "response.js"}

type statusButton struct {
	Value form.ResponseStatus
	Label string
	On    bool
}

type shownNote struct {
	store.Note
	AuthorName string
}

// statusLabels are the names of the states of a response.
var statusLabels = map[string]string{"new": "New", "read": "Read", "done": "Done"}

var responseNotices = map[string]string{
	"edited": "Changes saved.",
}

// ShowResponse shows one response.
func (pages *Pages) ShowResponse(req *page.Request) error {
	return pages.showResponse(req, http.StatusOK, nil)
}

// showResponse shows a response, with a problem of what was just posted.
func (pages *Pages) showResponse(req *page.Request, status int, problem *fault.Error) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	p := &responsePage{formLayout: pages.newFormLayout(f, "responses")}
	if p.Detail, err = pages.responseDetail(req, f.ID, req.PathValue("response")); err != nil {
		return err
	}
	if problem != nil {
		p.Detail.Problem = pages.problemText(req, problem)
	}
	p.Media = p.Detail.Media
	p.AddAssets(detailAssets)
	p.NoticeKey = responseNotices[req.URL.Query().Get("done")]
	if p.Newer, p.Older, err = pages.Store.Neighbors(req.Context(), req.Owner(), p.Detail.Response); err != nil {
		return err
	}
	if p.Retention, err = pages.Store.Retention(req.Context(), req.Owner(), f.ID); err != nil {
		return err
	}
	return pages.templates.Render(req, status, "response", p)
}

// ShowResponseDetail sends the response without the rest of its page, for the list beside it.
func (pages *Pages) ShowResponseDetail(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	p := &responsePage{formLayout: pages.newFormLayout(f, "responses")}
	if p.Detail, err = pages.responseDetail(req, f.ID, req.PathValue("response")); err != nil {
		return err
	}
	return pages.templates.RenderPart(req, "response", "response-detail", p)
}

// responseDetail reads a response with its marks and notes.
func (pages *Pages) responseDetail(req *page.Request, formID, responseID string) (*responseDetail, error) {
	r, err := pages.Store.Response(req.Context(), req.Owner(), formID, responseID)
	if err != nil {
		return nil, err
	}
	d, err := pages.Store.Definition(req.Context(), req.Owner(), formID, r.Version)
	if err != nil {
		return nil, err
	}
	answers, err := r.Answers()
	if err != nil {
		return nil, err
	}
	detail := &responseDetail{Response: r, Tags: r.Marks.TagList(), Name: pages.responseName(req, d, answers)}
	if err := pages.addAnswers(req, detail, d, answers); err != nil {
		return nil, err
	}
	for _, status := range form.ResponseStatuses {
		detail.Statuses = append(detail.Statuses, statusButton{
			Value: status, Label: pages.Site.TranslateFor(req, statusLabels[string(status)]), On: status == r.Marks.Status,
		})
	}
	totals, err := pages.Store.MarkTotals(req.Context(), req.Owner(), formID)
	if err != nil {
		return nil, err
	}
	for _, tag := range totals.Tags {
		if !slices.Contains(detail.Tags, tag.Name) {
			detail.OtherTags = append(detail.OtherTags, tag.Name)
		}
	}
	var metadata form.Metadata
	if json.Unmarshal([]byte(r.Metadata), &metadata) == nil {
		detail.Seconds = metadata.Seconds
		detail.EditedAt, _ = time.Parse(time.RFC3339, metadata.EditedAt)
	}
	detail.Notes, err = pages.shownNotes(req, r)
	return detail, err
}

func (pages *Pages) shownNotes(req *page.Request, r form.Response) ([]shownNote, error) {
	if r.Marks.Notes == 0 {
		return nil, nil
	}
	notes, err := pages.Store.Notes(req.Context(), req.Owner(), store.ResponseKey{FormID: r.FormID, ID: r.ID})
	if err != nil {
		return nil, err
	}
	names := map[string]string{req.User.ID: req.User.DisplayName()}
	var list []shownNote
	for _, n := range notes {
		if _, ok := names[n.Author]; !ok {
			author, err := pages.Store.User(req.Context(), n.Author)
			if err != nil && !errors.Is(err, fault.NotFound) {
				return nil, err
			}
			names[n.Author] = author.DisplayName()
		}
		list = append(list, shownNote{n, names[n.Author]})
	}
	return list, nil
}

// Minutes and Rest are the parts of Seconds.
func (d *responseDetail) Minutes() int64 { return d.Seconds / 60 }
func (d *responseDetail) Rest() int64    { return d.Seconds % 60 }

// address is the page of a response.
func responseAddress(formID, responseID string) string {
	return "/forms/" + formID + "/responses/" + responseID
}

// wantsJSON reports whether the script of a page sent the request.
func wantsJSON(req *page.Request) bool {
	return strings.Contains(req.Header.Get("Accept"), "application/json")
}

// problemText says what is wrong with what was posted.
func (pages *Pages) problemText(req *page.Request, problem *fault.Error) string {
	translated := pages.Site.TranslateError(req, problem)
	if len(translated.Details) > 0 {
		return page.Sentence(translated.Details[0].Message)
	}
	return translated.Message
}
