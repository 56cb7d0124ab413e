package mail

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	"formulary/internal/form"
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
	// Design is that of the form whose pages the mail looks like; nil: it looks like the workspace.
	Design *form.Design
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

// Writer writes mails in the languages of their readers. It may be used concurrently.
type Writer struct {
	languages locale.Languages
	toOwners  style
	mu        sync.Mutex
	toOthers  map[styleKey]style
}

// style is a look with its template.
type style struct {
	Look look
	html *template.Template
}

// styleKey is what a look depends on.
type styleKey struct{ brand, mood string }

// maxStyles is how many templates are kept; each takes about 100 kB.
const maxStyles = 50

// NewWriter returns a Writer.
func NewWriter(languages locale.Languages) (*Writer, error) {
	w := &Writer{languages: languages, toOthers: map[styleKey]style{}}
	var err error
	w.toOwners, err = newStyle(workspaceLook)
	return w, err
}

func newStyle(l look) (style, error) {
	html, err := l.parse(templateFile)
	return style{l, html}, err
}

// styleOf returns the style of mails about a form with a design.
func (w *Writer) styleOf(d *form.Design) (style, error) {
	if d == nil {
		return w.toOwners, nil
	}
	key := styleKey{d.Brand, d.Mood}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := w.toOthers[key]; ok {
		return s, nil
	}
	s, err := newStyle(formLook(*d))
	if err != nil {
		return s, err
	}
	if len(w.toOthers) == maxStyles {
		clear(w.toOthers) // parsing all again takes less than a millisecond each
	}
	w.toOthers[key] = s
	return s, nil
}

// Write writes what a mail says. The caller adds who gets it.
func (w *Writer) Write(kind Kind, language string) (Message, error) {
	texts := w.Texts(language)
	c := kind.Compose(texts)
	style, err := w.styleOf(c.Design)
	if err != nil {
		return Message{}, err
	}
	var out bytes.Buffer
	if err := style.html.Execute(&out, layout{c, texts, style.Look}); err != nil {
		return Message{}, fmt.Errorf("write mail: %w", err)
	}
	return Message{Subject: c.Subject, Text: c.text(), HTML: out.String()}, nil
}

// layout is what the template gets.
type layout struct {
	Content
	Texts
	Look look
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
