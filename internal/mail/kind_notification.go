package mail

import (
	"net/url"
	"strings"
	"time"
)

// Notification tells an owner of a new response.
type Notification struct {
	FormTitle   string
	Respondent  string // who responded; empty: not known
	Email       string // of the respondent; empty: not known
	SubmittedAt time.Time
	Zone        *time.Location
	Answers     []Answer
	More        bool // not all answers are in the mail
	URLs        FormURLs
	ResponseURL string
}

// FormURLs are the addresses in mails to the owner of a form.
type FormURLs struct {
	Responses   string
	Settings    string
	Unsubscribe string
}

// Name implements Kind.
func (Notification) Name() string { return "notification" }

// Compose implements Kind. The subject is the same for every response, so that mail programs
// show them as one conversation.
func (m Notification) Compose(t Texts) Content {
	c := Content{
		Subject: t.T("New response to “%s”", m.FormTitle), Above: m.FormTitle, Heading: t.T("New response"), Below: t.T("Submitted on %s.", t.DateTime(m.SubmittedAt, m.Zone)),
		Preview: previewOf(m.Answers), Groups: []Group{{Answers: m.Answers}},
		Button: Link{t.T("Open the response"), m.ResponseURL},
		Footer: t.T("You get this email because you are notified of each response to this form."),
	}
	if m.Respondent != "" {
		c.Heading = m.Respondent
	}
	if m.Email != "" {
		c.Links = []Link{{t.T("Reply by email"), "mailto:" + url.PathEscape(m.Email)}}
	}
	if m.More {
		c.Notes = []string{t.T("This is only a part of the response.")}
	}
	c.FooterLinks = m.URLs.footer(t)
	return c
}

func (u FormURLs) footer(t Texts) (links []Link) {
	for _, link := range []Link{{t.T("Change how often"), u.Settings}, {t.T("Unsubscribe"), u.Unsubscribe}} {
		if link.URL != "" {
			links = append(links, link)
		}
	}
	return links
}

// previewOf returns the first answers on one line.
func previewOf(answers []Answer) string {
	var texts []string
	for _, a := range answers[:min(3, len(answers))] {
		texts = append(texts, CleanLine(a.Answer, 60))
	}
	return strings.Join(texts, ", ")
}

// Digest tells an owner of several responses.
type Digest struct {
	FormTitle string
	Count     int64
	Daily     bool    // else hourly
	Newest    []Group // the newest responses
	URLs      FormURLs
}

// Name implements Kind.
func (Digest) Name() string { return "digest" }

// Compose implements Kind.
func (m Digest) Compose(t Texts) Content {
	c := Content{
		Subject: t.T("New responses to “%s”", m.FormTitle), Above: m.FormTitle, Heading: t.T("1 new response"), Groups: m.Newest,
		Button: Link{t.T("Open the responses"), m.URLs.Responses}, Footer: t.T("You get this email because you are notified once an hour of new responses to this form."),
		FooterLinks: m.URLs.footer(t),
	}
	if m.Count != 1 {
		c.Heading = t.T("%d new responses", m.Count)
	}
	if int64(len(m.Newest)) < m.Count {
		c.Paragraphs = []string{t.T("These are the newest ones.")}
	}
	if m.Daily {
		c.Footer = t.T("You get this email because you are notified once a day of new responses to this form.")
	}
	return c
}

// ConfirmRecipient asks an address whether it wants to be notified of a form's responses.
type ConfirmRecipient struct {
	FormTitle string
	Owner     string // name or address
	URL       string
}

// Name implements Kind.
func (ConfirmRecipient) Name() string { return "confirm_recipient" }

// HasSecret keeps the link from those who read the database.
func (ConfirmRecipient) HasSecret() {}

// IsUrgent is true: the reader was told to expect the mail.
func (ConfirmRecipient) IsUrgent() {}

// Compose implements Kind.
func (m ConfirmRecipient) Compose(t Texts) Content {
	return Content{
		Subject: t.T("Confirm notifications of “%s”", m.FormTitle), Above: m.FormTitle, Heading: t.T("Do you want to be notified of responses?"),
		Paragraphs: []string{t.T("%s wants to send new responses to this form to you.", m.Owner)},
		Button:     Link{t.T("Confirm"), m.URL},
		Notes:      []string{t.T("If you don’t want that, ignore this email. You won’t be notified.")},
	}
}
