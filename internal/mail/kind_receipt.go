package mail

import (
	"html/template"

	"formulary/internal/form"
)

// Receipt is what a respondent gets. Its texts are the owner's.
type Receipt struct {
	FormTitle string
	Design    form.Design
	Subject   string
	HTML      template.HTML
	Text      string // the same as HTML
	Answers   []Answer
	More      bool // not all answers are in the mail
}

// Name implements Kind.
func (Receipt) Name() string { return "receipt" }

// Compose implements Kind. Mail programs show the subject, so the heading is the title of the form.
func (m Receipt) Compose(t Texts) Content {
	c := Content{
		Subject: m.Subject, Heading: m.FormTitle, HTML: m.HTML, HTMLText: m.Text, Design: &m.Design,
		Footer: t.T("You get this email because your address was entered in this form. If that was not you, ignore it."),
	}
	if c.Subject == "" {
		c.Subject = t.T("Your response to “%s”", m.FormTitle)
	}
	if m.HTML == "" {
		c.Paragraphs = []string{t.T("Your response has been submitted.")}
	}
	if len(m.Answers) > 0 {
		c.Groups = []Group{{Title: t.T("Copy of your answers"), Answers: m.Answers}}
	}
	if m.More {
		c.Notes = []string{t.T("This is only a part of the response.")}
	}
	return c
}
