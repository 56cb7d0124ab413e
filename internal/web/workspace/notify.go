package workspace

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/mail"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// notifyPage says what a form sends by mail: notifications and receipts.
type notifyPage struct {
	formLayout
	On          bool      // mails are sent
	HasKey      bool      // other people can be asked to confirm
	Outage      string    // why the mail server cannot be used; empty: it can
	Since       time.Time // of the outage
	When        store.Frequency
	Recipients  []listedRecipient
	Add         string // as posted, or a suggestion
	Full        bool   // there can be no more addresses
	Receipt     store.Receipt
	Questions   []*form.Field // for an email address
	Insertable  []*form.Field // whose answers can be in the receipt
	Unconfirmed bool          // the user's own address
	Failures    []store.Mail
	Seen        seenSettings
	SeenReceipt seenSettings
}

// listedRecipient is an address with its state.
type listedRecipient struct {
	store.FormRecipient
	Class, State string
	Again        bool // it can be asked to confirm again
	Retry        bool // it can be tried again
}

// frequencyLabels are the choices of how often, in their order.
var frequencyLabels = []struct {
	When        store.Frequency
	Label, Hint string
}{
	{store.NotifyEach, "Each response", "At once"},
	{store.NotifyHourly, "Hourly digest", "If there are new responses"},
	{store.NotifyDaily, "Daily digest", "If there are new responses"},
	{store.NotifyOff, "Off", "No emails"},
}

// Frequencies are the choices of how often.
func (p *notifyPage) Frequencies() any { return frequencyLabels }

// Path is the address of the page.
func (p *notifyPage) Path() string { return notifyPath(p.Form.ID) }

func notifyPath(formID string) string { return "/forms/" + formID + "/connect/notify" }

// MailName says what a mail of the form is.
func (p *notifyPage) MailName(m store.Mail) string {
	switch {
	case mail.IsReceipt(m.Kind):
		return p.T("Receipt")
	case mail.IsConfirmRecipient(m.Kind):
		return p.T("Request to confirm")
	}
	return p.T("Notification")
}

var notifyNotices = map[string]string{
	"saved":   "Notifications saved.",
	"asked":   "Request sent again.",
	"retry":   "The next email is sent to this address again.",
	"receipt": "Receipt saved.",
}

// notifyView is what the page shows in place of what is stored.
type notifyView struct {
	when     store.Frequency
	add      string
	receipt  *store.Receipt
	problems page.Problems
	changed  string // by somebody else: notifications or receipt
}

// ShowNotify shows what a form sends by mail.
func (pages *Pages) ShowNotify(req *page.Request) error {
	return pages.renderNotify(req, http.StatusOK, notifyView{})
}

// maxFailures is how many failed mails the page lists.
const maxFailures = 10

func (pages *Pages) renderNotify(req *page.Request, status int, view notifyView) error {
	ctx, owner := req.Context(), req.Owner()
	f, draft, err := pages.Store.FormDraft(ctx, owner, req.PathValue("id"))
	if err != nil {
		return err
	}
	p := &notifyPage{formLayout: pages.newFormLayout(f, "connect"), On: pages.Mails.IsOn(), HasKey: pages.Mails.Sealer != nil, Add: view.add, Unconfirmed: req.User.EmailVerifiedAt.IsZero()}
	p.Outage, p.Since = pages.Mails.Problem()
	if p.Receipt, err = pages.Store.Receipt(ctx, owner, f.ID); err != nil {
		return err
	}
	failed, err := pages.Store.FailedMails(ctx, owner, f.ID, 10*maxFailures)
	if err != nil {
		return err
	}
	p.Failures = latestFailures(failed)
	n, err := pages.Store.Notifications(ctx, owner, f.ID)
	if err != nil {
		return err
	}
	p.When = n.When
	p.Seen = seenSettings{&p.Layout, seenValue(n.When), view.changed == "notifications", p.Path()}
	p.SeenReceipt = seenSettings{&p.Layout, seenValue(p.Receipt), view.changed == "receipt", p.Path() + "#receipt"}
	pages.Site.SetLanguage(req, &p.Layout)
	p.listRecipients(n)
	if view.problems == nil && view.changed != "notifications" && len(n.Recipients) == 0 {
		p.Add = req.User.Email
	}
	if view.when != "" {
		p.When = view.when
	}
	if view.receipt != nil {
		p.Receipt = *view.receipt
	}
	for _, field := range draft.Fields {
		if field.Traits().Email {
			p.Questions = append(p.Questions, field)
		}
		if field.HasAnswer() {
			p.Insertable = append(p.Insertable, field)
		}
	}
	p.Part, p.Script, p.Style = "notify", "notify.js", "mails.css"
	p.Problems, p.NoticeKey = view.problems, notifyNotices[req.URL.Query().Get("done")]
	return pages.templates.Render(req, status, "notify", p)
}

// latestFailures returns the latest failure of each kind and address.
func latestFailures(failed []store.Mail) (list []store.Mail) {
	known := map[string]bool{}
	for _, m := range failed {
		key := m.Kind + " " + account.EmailKey(m.Recipient)
		if !known[key] && len(list) < maxFailures {
			known[key] = true
			list = append(list, m)
		}
	}
	return list
}

// listRecipients describes the addresses. What failed most recently is known from Failures.
func (p *notifyPage) listRecipients(n store.Notifications) {
	listed := 0
	for _, r := range n.Recipients {
		e := listedRecipient{FormRecipient: r}
		if r.UnsubscribedAt.IsZero() {
			listed++
		}
		switch {
		case !r.UnsubscribedAt.IsZero():
			e.State, e.Again = p.T("Unsubscribed"), true
		case r.Refused != "":
			e.Class, e.State, e.Retry = "bad", p.T("Refused"), true
		case r.Receives():
			e.Class, e.State = "good", p.T("Confirmed")
		default:
			e.State, e.Again = p.T("Not confirmed yet"), true
			if at := slices.IndexFunc(p.Failures, func(m store.Mail) bool {
				return m.Status == store.MailFailed && mail.IsConfirmRecipient(m.Kind) && account.EmailKey(m.Recipient) == account.EmailKey(r.Email)
			}); at >= 0 {
				e.Class, e.State, e.Refused = "bad", p.T("Refused"), p.Failures[at].Error
			}
		}
		p.Recipients = append(p.Recipients, e)
	}
	p.Full = listed >= store.MaxRecipients
}

// ChangeNotifications saves how often and who is notified. Its buttons add, remove, ask or try
// an address; each also saves the rest.
func (pages *Pages) ChangeNotifications(req *page.Request) error {
	ctx, owner, formID := req.Context(), req.Owner(), req.PathValue("id")
	view := notifyView{when: store.Frequency(req.Field("when")), add: strings.TrimSpace(searchText(req.Field("add")))}
	remove, again, retry := account.EmailKey(req.Field("remove")), account.EmailKey(req.Field("again")), account.EmailKey(req.Field("retry"))
	added := strings.FieldsFunc(view.add, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) })
	done, known := "saved", map[string]bool{}
	_, err := pages.Mails.SetNotifications(ctx, owner, formID, store.NotificationChange{When: view.when, Edit: func(n store.Notifications) ([]string, error) {
		var to []string
		clear(known)
		for _, r := range n.Recipients {
			key := account.EmailKey(r.Email)
			if key != remove && (r.UnsubscribedAt.IsZero() || key == again) {
				to, known[key] = append(to, r.Email), true
			}
		}
		for _, address := range added {
			if !known[account.EmailKey(address)] {
				to = append(to, address)
			}
		}
		return to, checkSeen(req, seenValue(n.When), seenValue(view.when))
	}})
	if err == nil && again != "" && known[again] {
		done, err = "asked", pages.Mails.AskRecipientAgain(ctx, owner, formID, again)
	}
	if err == nil && retry != "" && known[retry] {
		done, err = "retry", pages.Store.AllowMail(ctx, owner, retry)
	}
	if err == nil {
		return req.Redirect(notifyPath(formID) + "?done=" + done)
	}
	if errors.Is(err, errSettingsChanged) {
		view.changed = "notifications"
		return pages.renderNotify(req, http.StatusConflict, view)
	}
	status, problems := notificationProblems(err)
	if problems == nil {
		return err
	}
	view.problems = problems
	return pages.renderNotify(req, status, view)
}

// notificationProblems returns what the user can correct: all problems of addresses belong to
// one control.
func notificationProblems(err error) (int, page.Problems) {
	e := fault.Wrap(err)
	switch e.Code {
	case fault.RateLimited:
		return http.StatusTooManyRequests, page.Problems{"add": fault.Messagef("this address was asked several times; try again in an hour")}
	case fault.Invalid:
		problems := page.Problems{}
		for _, d := range slices.Backward(e.Details) {
			field := d.Field
			if strings.HasPrefix(field, "to") {
				field = "add"
			}
			problems[field] = d
		}
		return http.StatusUnprocessableEntity, problems
	}
	return 0, nil
}
