package workspace

import (
	"net/http"
	"strconv"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/mail"
	"formulary/internal/outbox"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// Administrators can read the newest 10,000 mails: the database reads all before a page.
const (
	mailsPerPage = 25
	maxMailsPage = 400
)

// mailsPage lists the mails of all accounts that were kept because there is no mail server.
type mailsPage struct {
	page.Layout
	Off        bool // there is still none
	Mails      []listedMail
	Prev, Next string
}

type listedMail struct {
	store.Mail
	Subject string // empty: what the mail is about is deleted
}

// errNotAdmin hides nothing: everybody can read which pages there are.
var errNotAdmin = fault.New(fault.Forbidden, "Only administrators can see this page.")

func requireAdmin(req *page.Request) error {
	if req.User.Role != account.RoleAdmin {
		return errNotAdmin
	}
	return nil
}

// ListMails lists the mails that were not sent, for administrators.
func (pages *Pages) ListMails(req *page.Request) error {
	if err := requireAdmin(req); err != nil {
		return err
	}
	number, err := strconv.ParseInt(req.URL.Query().Get("page"), 10, 32)
	if err != nil || number < 1 {
		number = 1
	}
	number = min(number, maxMailsPage)
	list, err := pages.Store.KeptMails(req.Context(), store.Page{Limit: mailsPerPage + 1, Offset: (number - 1) * mailsPerPage})
	if err != nil {
		return err
	}
	p := &mailsPage{Layout: page.Layout{TitleKey: "Unsent mail", Section: "mails", Style: "mails.css"}, Off: !pages.Mails.IsOn()}
	if number > 1 {
		p.Prev = "/mails?page=" + strconv.FormatInt(number-1, 10)
	}
	if len(list) > mailsPerPage {
		list = list[:mailsPerPage]
		if number < maxMailsPage {
			p.Next = "/mails?page=" + strconv.FormatInt(number+1, 10)
		}
	}
	for _, m := range list {
		message, err := pages.Mails.Render(req.Context(), m)
		if err != nil && !outbox.IsGone(err) {
			return err
		}
		p.Mails = append(p.Mails, listedMail{m, message.Subject})
	}
	return pages.templates.Render(req, http.StatusOK, "mails", p)
}

// mailPage shows one mail.
type mailPage struct {
	page.Layout
	Mail    store.Mail
	Message mail.Message
	Gone    bool // what the mail is about is deleted
}

// ShowMail shows a mail that was not sent.
func (pages *Pages) ShowMail(req *page.Request) error {
	m, message, err := pages.keptMail(req)
	if err != nil && !outbox.IsGone(err) {
		return err
	}
	p := &mailPage{Layout: page.Layout{Title: message.Subject, Section: "mails", Style: "mails.css"}, Mail: m, Message: message, Gone: err != nil}
	if p.Gone {
		p.TitleKey = "Deleted"
	}
	return pages.templates.Render(req, http.StatusOK, "mail", p)
}

// ShowMailHTML is the content of the frame with a mail.
func (pages *Pages) ShowMailHTML(req *page.Request) error {
	_, message, err := pages.keptMail(req)
	if outbox.IsGone(err) {
		return fault.NotFound
	}
	if err != nil {
		return err
	}
	return sendMail(req, message)
}

// keptMail reads the mail that the request names. Only mails that nobody has got are shown.
func (pages *Pages) keptMail(req *page.Request) (m store.Mail, message mail.Message, err error) {
	if err := requireAdmin(req); err != nil {
		return m, message, err
	}
	if m, err = pages.Store.Mail(req.Context(), req.PathValue("account"), req.PathValue("mail")); err != nil {
		return m, message, err
	}
	if m.Status != store.MailKept {
		return m, message, fault.NotFound
	}
	message, err = pages.Mails.Render(req.Context(), m)
	return m, message, err
}
