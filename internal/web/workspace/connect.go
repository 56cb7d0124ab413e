package workspace

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"formulary/internal/delivery"
	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// connectPage lists the webhooks of a form.
type connectPage struct {
	formLayout
	Webhooks []listedWebhook
	HasKey   bool // webhooks can be created
	Full     bool // there can be no more of them
	Snippets []snippet
}

type listedWebhook struct {
	store.Webhook
	Latest *store.Delivery // nil: there is none
}

// HasAllEvents reports whether the webhook receives every kind of event.
func (w listedWebhook) HasAllEvents() bool { return len(w.Events) == len(store.EventKinds) }

// Host is the part of a webhook's URL that people know it by.
func (w listedWebhook) Host() string { return hostOf(w.URL) }

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return cmp.Or(u.Host, address)
}

// webhookState is a word about a webhook, with its style.
type webhookState struct{ Class, Text string }

// States describes whether a webhook receives events, and how many wait.
func (l *formLayout) States(w store.Webhook) []webhookState {
	var list []webhookState
	switch w.Status {
	case store.WebhookActive:
		list = append(list, webhookState{"good", l.T("Active")})
	case store.WebhookPaused:
		list = append(list, webhookState{"", l.T("Paused")})
	case store.WebhookDisabled:
		list = append(list, webhookState{"bad", l.T("Disabled")})
	}
	if w.Pending > 0 {
		list = append(list, webhookState{"bad", l.T("%s pending", l.Number(w.Pending))})
	}
	return list
}

var connectNotices = map[string]string{
	"deleted": "Webhook deleted.",
}

// ShowConnect lists the webhooks of a form.
func (pages *Pages) ShowConnect(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	list, total, err := pages.Store.Webhooks(req.Context(), req.Owner(), f.ID, store.Page{Limit: store.MaxWebhooks})
	if err != nil {
		return err
	}
	latest, err := pages.Store.LatestDeliveries(req.Context(), req.Owner(), f.ID)
	if err != nil {
		return err
	}
	p := &connectPage{formLayout: pages.newFormLayout(f, "connect"), HasKey: pages.Webhooks.HasKey(), Full: total >= store.MaxWebhooks, Snippets: snippets}
	for _, w := range list {
		listed := listedWebhook{Webhook: w}
		if d, ok := latest[w.ID]; ok {
			listed.Latest = &d
		}
		p.Webhooks = append(p.Webhooks, listed)
	}
	p.Part = "webhooks"
	p.NoticeKey = connectNotices[req.URL.Query().Get("done")]
	return pages.templates.Render(req, http.StatusOK, "connect", p)
}

// webhookForm has the controls of a webhook.
type webhookForm struct {
	URL         string
	Events      []eventChoice
	StrictOrder bool
}

type eventChoice struct {
	Kind        store.EventKind
	Description string
	Chosen      bool
}

// eventDescriptions say when events happen.
var eventDescriptions = map[store.EventKind]string{
	store.ResponseCreated:  "A response is submitted",
	store.ResponseUpdated:  "A response is edited",
	store.ResponseDeleted:  "A response is deleted",
	store.ResponseRestored: "A response is restored",
	store.FormPublished:    "A version is published",
	store.FormOpened:       "The form opens",
	store.FormClosed:       "The form closes",
}

func newWebhookForm(address string, chosen []store.EventKind, strict bool) webhookForm {
	f := webhookForm{URL: address, StrictOrder: strict}
	for _, kind := range store.EventKinds {
		f.Events = append(f.Events, eventChoice{kind, eventDescriptions[kind], slices.Contains(chosen, kind)})
	}
	return f
}

// postedWebhook returns the controls as they were posted.
func postedWebhook(req *page.Request) webhookForm {
	var chosen []store.EventKind
	for _, name := range req.PostForm["events"] {
		chosen = append(chosen, store.EventKind(name))
	}
	return newWebhookForm(strings.TrimSpace(req.Field("url")), chosen, req.Field("strict_order") != "")
}

// newWebhookPage creates a webhook.
type newWebhookPage struct {
	formLayout
	Controls webhookForm
	Nonce    string // idempotency key
}

// NewWebhook shows the form that creates a webhook.
func (pages *Pages) NewWebhook(req *page.Request) error {
	return pages.renderNewWebhook(req, http.StatusOK, newWebhookForm("", []store.EventKind{store.ResponseCreated}, false), rand.Text(), nil)
}

func (pages *Pages) renderNewWebhook(req *page.Request, status int, controls webhookForm, nonce string, problems page.Problems) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	p := &newWebhookPage{pages.newFormLayout(f, "connect"), controls, nonce}
	p.Problems = problems
	return pages.templates.Render(req, status, "webhook_new", p)
}

// CreateWebhook creates a webhook and shows its secret.
func (pages *Pages) CreateWebhook(req *page.Request) error {
	formID, controls, nonce := req.PathValue("id"), postedWebhook(req), req.Field("nonce")
	if len(nonce) > 100 || nonce != searchText(nonce) {
		nonce = ""
	}
	w, secret, err := pages.createWebhook(req, formID, controls, nonce)
	if status, problems := webhookProblems(err); problems != nil {
		return pages.renderNewWebhook(req, status, controls, nonce, problems)
	}
	if err != nil {
		return err
	}
	if secret == "" { // the form was submitted twice
		return req.Redirect("/forms/" + formID + "/connect/" + w.ID + "?done=already")
	}
	return pages.renderWebhook(req, http.StatusOK, webhookView{key: w.WebhookKey, secret: secret})
}

func (pages *Pages) createWebhook(req *page.Request, formID string, controls webhookForm, nonce string) (store.Webhook, string, error) {
	// A form of another account does not exist, whatever was posted.
	if _, err := pages.Store.Form(req.Context(), req.Owner(), formID); err != nil {
		return store.Webhook{}, "", err
	}
	kinds, err := delivery.ParseEvents(req.PostForm["events"])
	if err != nil {
		return store.Webhook{}, "", err
	}
	w := store.Webhook{
		WebhookKey: store.WebhookKey{FormID: formID}, URL: controls.URL, Events: kinds, StrictOrder: controls.StrictOrder, Status: store.WebhookActive,
	}
	return pages.Webhooks.Create(req.Context(), req.Owner(), w, store.IdempotencyKey{App: "console", Key: nonce})
}

// webhookProblems returns what the user can correct, and the status of the page that says so.
// The key of a problem is the control it belongs to; webhook is the whole form.
func webhookProblems(err error) (int, page.Problems) {
	switch e := fault.Wrap(err); {
	case err == nil:
		return 0, nil
	case e.Code == fault.QuotaReached:
		return http.StatusConflict, page.Problems{"webhook": e}
	}
	list, err := page.NewProblems(err)
	if err != nil {
		return 0, nil
	}
	return http.StatusUnprocessableEntity, list
}
