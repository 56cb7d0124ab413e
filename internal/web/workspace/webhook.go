package workspace

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"formulary/internal/delivery"
	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/web/page"
	"formulary/internal/webhook"
)

const deliveriesPerPage = 25

// webhookPage shows a webhook, its deliveries and its settings.
type webhookPage struct {
	formLayout
	Webhook  listedWebhook
	Controls webhookForm
	Secret   string          // a new secret, shown only now
	Test     *webhook.Result // nil: no test was sent
	OldUntil time.Time       // until the previous secret signs too; zero: it does not
	Since    string          // as posted
	Seen     seenSettings

	Status     store.DeliveryStatus // filter; empty: all
	Deliveries []listedDelivery
	Total      int64
	From, To   int64
	Prev, Next string
}

// deliveryFilters are the states to filter by, with their names.
var deliveryFilters = []struct {
	Status store.DeliveryStatus
	Label  string
}{
	{"", "All"}, {store.Delivered, "Delivered"}, {store.DeliveryPending, "Pending"}, {store.DeliveryFailed, "Failed"},
}

// Filters are the states to filter the deliveries by.
func (p *webhookPage) Filters() any { return deliveryFilters }

// Path is the address of the webhook.
func (p *webhookPage) Path() string { return "/forms/" + p.Form.ID + "/connect/" + p.Webhook.ID }

// LogLink is the address of a page of the deliveries. An empty delivery opens none.
func (p *webhookPage) LogLink(status store.DeliveryStatus, number int64, deliveryID string) string {
	query := url.Values{}
	if status != "" {
		query.Set("status", string(status))
	}
	if number > 1 {
		query.Set("page", strconv.FormatInt(number, 10))
	}
	to := p.Path()
	if deliveryID != "" {
		query.Set("delivery", deliveryID)
	}
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	if deliveryID != "" {
		return to + "#" + deliveryID
	}
	return to + "#deliveries"
}

var webhookNotices = map[string]string{
	"already":      "This webhook already exists. If you did not copy its secret, rotate it below.",
	"saved":        "Webhook saved.",
	"paused":       "Webhook paused. Events wait until you resume it.",
	"resumed":      "Webhook active. It continues where it stopped.",
	"resent":       "Sending the event again.",
	"resent-later": "The event is sent again once the webhook is active.",
	"replay":       "Replay started.",
	"replay-later": "The replay starts once the webhook is active.",
}

// webhookView is what a page of a webhook shows besides what is stored.
type webhookView struct {
	key      store.WebhookKey
	secret   string
	test     *webhook.Result
	controls *webhookForm // as posted; nil: as stored
	problems page.Problems
	changed  bool // somebody else changed the settings
}

// webhookSeen returns what is compared to find out whether somebody else changed the settings.
func webhookSeen(w *store.Webhook) string { return seenValue(w.URL, w.Events, w.StrictOrder) }

func webhookKey(req *page.Request) store.WebhookKey {
	return store.WebhookKey{FormID: req.PathValue("id"), ID: req.PathValue("webhook")}
}

// ShowWebhook shows a webhook and its deliveries.
func (pages *Pages) ShowWebhook(req *page.Request) error {
	return pages.renderWebhook(req, http.StatusOK, webhookView{key: webhookKey(req)})
}

func (pages *Pages) renderWebhook(req *page.Request, status int, view webhookView) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), view.key.FormID)
	if err != nil {
		return err
	}
	w, err := pages.Store.Webhook(req.Context(), req.Owner(), view.key)
	if err != nil {
		return err
	}
	p := &webhookPage{
		formLayout: pages.newFormLayout(f, "connect"), Webhook: listedWebhook{Webhook: w}, Controls: newWebhookForm(w.URL, w.Events, w.StrictOrder),
		Secret: view.secret, Test: view.test, Since: req.Field("since"),
	}
	p.Seen = seenSettings{&p.Layout, webhookSeen(&w), view.changed, p.Path()}
	if view.controls != nil {
		p.Controls = *view.controls
	}
	if pages.Now().Before(w.OldSecretUntil) {
		p.OldUntil = w.OldSecretUntil
	}
	p.Problems, p.NoticeKey = view.problems, webhookNotices[req.URL.Query().Get("done")]
	last, err := pages.listDeliveries(req, p)
	if err != nil {
		return err
	}
	if last > 0 {
		return req.Redirect(p.LogLink(p.Status, last, ""))
	}
	return pages.templates.Render(req, status, "webhook", p)
}

// listDeliveries reads the deliveries that the query asks for. It returns the number of the
// last page if that page no longer exists.
func (pages *Pages) listDeliveries(req *page.Request, p *webhookPage) (last int64, err error) {
	query := req.URL.Query()
	for _, filter := range deliveryFilters {
		if string(filter.Status) == query.Get("status") {
			p.Status = filter.Status
		}
	}
	number, err := strconv.ParseInt(query.Get("page"), 10, 32)
	if err != nil || number < 1 {
		number = 1
	}
	offset := (number - 1) * deliveriesPerPage
	list, total, err := pages.Store.Deliveries(req.Context(), req.Owner(), p.Webhook.WebhookKey, p.Status, store.Page{Limit: deliveriesPerPage, Offset: offset})
	if err != nil {
		return 0, err
	}
	if offset >= total && total > 0 { // deliveries were removed since
		return (total-1)/deliveriesPerPage + 1, nil
	}
	p.Total, p.From, p.To = total, min(offset+1, total), offset+int64(len(list))
	if number > 1 {
		p.Prev = p.LogLink(p.Status, number-1, "")
	}
	if offset+deliveriesPerPage < total {
		p.Next = p.LogLink(p.Status, number+1, "")
	}
	opened := query.Get("delivery")
	isOpened := func(d store.Delivery) bool { return d.ID() == opened }
	if opened != "" && !slices.ContainsFunc(list, isOpened) {
		// Newer deliveries have moved it to another page.
		d, err := pages.Store.Delivery(req.Context(), req.Owner(), p.Webhook.WebhookKey, opened)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return 0, err
		}
		if err == nil {
			list = append([]store.Delivery{d}, list...)
		}
	}
	for _, d := range list {
		listed := listedDelivery{Delivery: d, Now: pages.Now(), Details: p.LogLink(p.Status, number, d.ID())}
		if isOpened(d) {
			listed.Open, listed.Details = true, p.LogLink(p.Status, number, "")
			if listed.Request, err = pages.Webhooks.Preview(req.Context(), req.Owner(), p.Webhook.Webhook, d); err != nil {
				return 0, err
			}
		}
		p.Deliveries = append(p.Deliveries, listed)
	}
	return 0, nil
}

// ChangeWebhook saves the settings of a webhook.
func (pages *Pages) ChangeWebhook(req *page.Request) error {
	key, controls := webhookKey(req), postedWebhook(req)
	kinds, err := delivery.ParseEvents(req.PostForm["events"])
	if err == nil {
		_, err = pages.Webhooks.UpdateFor(req.Context(), req.Owner(), key, store.WebhookChange{Apply: func(w *store.Webhook) error {
			stored := webhookSeen(w)
			w.URL, w.Events, w.StrictOrder = controls.URL, kinds, controls.StrictOrder
			return checkSeen(req, stored, webhookSeen(w))
		}})
	}
	if errors.Is(err, errSettingsChanged) {
		return pages.renderWebhook(req, http.StatusConflict, webhookView{key: key, controls: &controls, changed: true})
	}
	if status, problems := webhookProblems(err); problems != nil {
		return pages.renderWebhook(req, status, webhookView{key: key, controls: &controls, problems: problems})
	}
	return pages.finishWebhook(req, "saved", err)
}

// finishWebhook redirects to the page of the webhook after a change.
func (pages *Pages) finishWebhook(req *page.Request, done string, err error) error {
	if err != nil {
		return err
	}
	key := webhookKey(req)
	return req.Redirect("/forms/" + key.FormID + "/connect/" + key.ID + "?done=" + done)
}
