package workspace

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// sharePage has the link of a form, its availability and how to embed it.
type sharePage struct {
	formLayout
	Slug        string
	OpensAt     string
	ClosesAt    string
	Limit       string
	Sites       string // one per line
	AnySite     bool
	Address     string // last part of the link
	Embeds      []embedMode
	Questions   []prefillQuestion
	HostAddress string // first part of the link
	Host        string // of the link
	Live        form.Header
	HasCover    bool // the picture of the card is the cover
	retentionSettings
	peopleSettings
	Seen          seenSettings
	SeenRetention seenSettings
	MoveTargets   []store.Space // spaces to which the user may move the form
}

// shareView is what the page shows besides what is stored.
type shareView struct {
	problems page.Problems
	changed  string // by somebody else: availability or retention
	people   peopleSettings
}

// availabilitySeen returns what is compared to find out whether somebody else changed the
// settings. The time has no zone in controls.
func availabilitySeen(a form.Availability) string {
	return seenValue(a.Slug, a.OpensAt.Unix(), a.ClosesAt.Unix(), a.ResponseLimit, a.Sites)
}

var shareNotices = map[string]string{
	"retention": "Saved.", "saved": "Saved. Changes are live.", "saved, and closed": "Saved. This form is closed. Reopen it to accept responses.", "published": "Published. Share this link to collect responses.", "closed": "Form closed.", "opened": "Form reopened.", "moved": "Form moved to this space.",
}

// ShowShare shows how to share the form.
func (pages *Pages) ShowShare(req *page.Request) error {
	return pages.renderShare(req, http.StatusOK, shareView{})
}

// renderShare renders the share page. If the request posted its settings, the page
// contains them with their problems.
func (pages *Pages) renderShare(req *page.Request, status int, view shareView) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	live, err := pages.currentForm(req, f)
	if err != nil {
		return err
	}
	d := live.Definition
	p := &sharePage{formLayout: pages.newFormLayout(f, "share"), Slug: f.Slug, HostAddress: pages.Site.BaseURL + "/f/", Live: live.Header, HasCover: d.Design.Cover != ""}
	if base, err := url.Parse(pages.Site.BaseURL); err == nil {
		p.Host = base.Host
	}
	zone := page.LoadZone(req.User.TimeZone)
	p.OpensAt, p.ClosesAt = controlTime(f.OpensAt, zone), controlTime(f.ClosesAt, zone)
	if f.ResponseLimit > 0 {
		p.Limit = strconv.FormatInt(f.ResponseLimit, 10)
	}
	if p.AnySite = f.Sites == form.AnySite; !p.AnySite {
		p.Sites = strings.Join(strings.Fields(f.Sites), "\n")
	}
	p.Problems, p.peopleSettings = view.problems, view.people
	if err := pages.addPeople(req, &p.peopleSettings, f.ID); err != nil {
		return err
	}
	if req.PostForm.Has("slug") { // not a button elsewhere on the page
		p.Slug, p.OpensAt, p.ClosesAt, p.Limit, p.Sites = req.Field("slug"), req.Field("opens_at"), req.Field("closes_at"), req.Field("response_limit"), req.Field("sites")
		p.AnySite = req.Field("any_site") != ""
	}
	p.Address = strings.TrimPrefix(p.Link, pages.Site.BaseURL+"/f/")
	p.Embeds = pages.embedModes(req, p.Address, live)
	for _, field := range d.Fields {
		if field.TakesAnswer() && field.Parts() == nil {
			p.Questions = append(p.Questions, pages.newPrefillQuestion(req, d, field))
		}
	}
	if p.retentionSettings, err = pages.retentionSettings(req, f.ID); err != nil {
		return err
	}
	if p.MoveTargets, err = pages.moveTargets(req); err != nil {
		return err
	}
	p.Seen = seenSettings{&p.Layout, availabilitySeen(f.Availability), view.changed == "availability", "/forms/" + f.ID + "/share"}
	p.SeenRetention = seenSettings{&p.Layout, seenValue(p.Retention.Days), view.changed == "retention", "/forms/" + f.ID + "/share#retention"}
	p.Script, p.Style = "share.js", "share.css"
	for _, notices := range []map[string]string{shareNotices, peopleNotices, invitationNotices} {
		p.NoticeKey = cmp.Or(p.NoticeKey, notices[req.URL.Query().Get("done")])
	}
	if p.NoticeKey == shareNotices["saved"] && f.At(pages.Now()).Status == form.Closed {
		p.NoticeKey = shareNotices["saved, and closed"]
	}
	return pages.templates.Render(req, status, "share", p)
}

// currentForm returns the live version, or the draft before the first publication.
func (pages *Pages) currentForm(req *page.Request, f form.Form) (form.FormInput, error) {
	if f.Version == 0 {
		d, err := pages.Store.Draft(req.Context(), req.Owner(), f.ID)
		return form.FormInput{Header: form.Header{Title: f.Title, Description: f.Description, Language: f.Language}, Definition: d}, err
	}
	v, err := pages.Store.Version(req.Context(), req.Owner(), f.ID, f.Version)
	return form.FormInput{Header: v.Header, Definition: v.Definition}, err
}

// ChangeAvailability saves the settings on the share page.
func (pages *Pages) ChangeAvailability(req *page.Request) error {
	id := req.PathValue("id")
	_, err := pages.Store.UpdateForm(req.Context(), req.Owner(), store.FormRevision{ID: id}, func(p *form.FormInput) error {
		stored := availabilitySeen(p.Availability)
		p.Slug = req.Field("slug")
		if p.Sites = strings.Join(strings.Fields(req.Field("sites")), " "); req.Field("any_site") != "" {
			p.Sites = form.AnySite
		}
		p.ResponseLimit = 0
		if text := strings.TrimSpace(req.Field("response_limit")); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return fault.InvalidField("response_limit", "enter a whole number or leave this blank")
			}
			p.ResponseLimit = n
		}
		for name, to := range map[string]*time.Time{"opens_at": &p.OpensAt, "closes_at": &p.ClosesAt} {
			*to = time.Time{}
			if text := req.Field(name); text != "" {
				t, err := time.ParseInLocation(controlTimeLayout, text, page.LoadZone(req.User.TimeZone))
				if err != nil {
					return fault.InvalidField(name, "enter a date and time")
				}
				*to = t.UTC()
			}
		}
		if err := p.Availability.Normalize(); err != nil {
			return err
		}
		return checkSeen(req, stored, availabilitySeen(p.Availability))
	}, pages.Now())
	if list, changed, other := settingsProblems(err); err != nil && other == nil {
		view := shareView{problems: list}
		if changed {
			view.changed = "availability"
		}
		return pages.renderShare(req, statusOf(changed), view)
	}
	if err != nil {
		return err
	}
	return req.Redirect("/forms/" + id + "/share?done=saved")
}

// controlTimeLayout is the format of an HTML control for a date and time.
const controlTimeLayout = "2006-01-02T15:04"

func controlTime(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ""
	}
	return t.In(zone).Format(controlTimeLayout)
}
