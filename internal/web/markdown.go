package web

import (
	"bytes"
	"html/template"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// markdown draws what owners write. HTML in it stays text, and what comes out
// passes a second gate: only what a paragraph needs goes through.
type markdown struct {
	from  goldmark.Markdown
	gate  *bluemonday.Policy
	drawn *renderedTexts
}

func newMarkdown() markdown {
	gate := bluemonday.NewPolicy()
	gate.AllowStandardURLs()
	gate.AllowElements("p", "br", "hr", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li", "h2", "h3", "h4",
		"table", "thead", "tbody", "tr", "th", "td")
	gate.AllowAttrs("href").OnElements("a")
	gate.RequireNoFollowOnLinks(true)
	gate.AddTargetBlankToFullyQualifiedLinks(true)
	return markdown{goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify)), gate, &renderedTexts{}}
}

func (m markdown) render(text string) (template.HTML, error) {
	var out bytes.Buffer
	if err := m.from.Convert([]byte(limitSyntax(text)), &out); err != nil {
		return "", err
	}
	return template.HTML(m.gate.SanitizeBytes(out.Bytes())), nil
}

// quoteMarkdown makes an answer that is put into Markdown mean nothing in it.
func quoteMarkdown(text string) string {
	var out bytes.Buffer
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r':
			out.WriteByte(' ')
			continue
		case r < 0x80 && (r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'):
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}
