package mail

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"formulary/internal/locale"
)

// Content is what a mail says, in the language of its reader. Empty parts are left out.
type Content struct {
	Subject    string
	Preview    string // what mail programs show beside the subject
	Above      string // a line above the heading, such as the name of a form
	Heading    string
	Below      string // a line below the heading, such as a time
	Paragraphs []string
	// A formatted text, and the same as plain text.
	HTML     template.HTML
	HTMLText string
	Groups   []Group // answers
	Button   Link
	Links    []Link // beside the button
	Notes    []string
	// The last lines say why the reader gets the mail, and how to stop that.
	Footer      string
	FooterLinks []Link
	// ToRespondent says that the mail looks like the form, and not like the workspace.
	ToRespondent bool
}

// Look is how the mail looks.
func (c Content) Look() look {
	if c.ToRespondent {
		return formLook
	}
	return workspaceLook
}

// Group is a list of answers, such as those of one response.
type Group struct {
	Title   string
	URL     string // of the title
	Answers []Answer
}

// Answer is a question with its answer.
type Answer struct {
	Question, Answer string
}

// Lines returns the lines of the answer.
func (a Answer) Lines() []string { return strings.Split(a.Answer, "\n") }

// Link is a text that leads to an address.
type Link struct {
	Text, URL string
}

//go:embed templates/mail.html
var templateFile string

// Writer writes mails in the languages of their readers.
type Writer struct {
	languages               locale.Languages
	toOwners, toRespondents *template.Template
}

// NewWriter returns a Writer.
func NewWriter(languages locale.Languages) (*Writer, error) {
	w := &Writer{languages: languages}
	var err error
	if w.toOwners, err = workspaceLook.parse(templateFile); err != nil {
		return nil, err
	}
	w.toRespondents, err = formLook.parse(templateFile)
	return w, err
}

// Write writes what a mail says. The caller adds who gets it.
func (w *Writer) Write(kind Kind, language string) (Message, error) {
	texts := w.Texts(language)
	c := kind.Compose(texts)
	html := w.toOwners
	if c.ToRespondent {
		html = w.toRespondents
	}
	var out bytes.Buffer
	if err := html.Execute(&out, layout{c, texts}); err != nil {
		return Message{}, fmt.Errorf("write mail: %w", err)
	}
	return Message{Subject: c.Subject, Text: c.text(), HTML: out.String()}, nil
}

// layout is what the template gets.
type layout struct {
	Content
	Texts
}

// text returns the content as plain text.
func (c Content) text() string {
	var out strings.Builder
	part := func(lines ...string) {
		if text := strings.TrimSpace(strings.Join(lines, "\n")); text != "" {
			out.WriteString(text + "\n\n")
		}
	}
	part(c.Above, c.Heading, c.Below)
	for _, text := range c.Paragraphs {
		part(text)
	}
	part(c.HTMLText)
	for _, g := range c.Groups {
		part(g.Title, g.URL)
		for _, a := range g.Answers {
			part(a.Question+":", "  "+strings.ReplaceAll(a.Answer, "\n", "\n  "))
		}
	}
	for _, link := range append([]Link{c.Button}, c.Links...) {
		if link.URL != "" {
			part(link.Text+":", link.URL)
		}
	}
	for _, text := range c.Notes {
		part(text)
	}
	if c.Footer != "" || len(c.FooterLinks) > 0 {
		out.WriteString("-- \n")
		part(c.Footer)
		for _, link := range c.FooterLinks {
			part(link.Text + ": " + link.URL)
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}
