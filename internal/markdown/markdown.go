// Package markdown renders the texts of owners as HTML.
package markdown

import (
	"bytes"
	"html/template"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// Renderer renders texts of owners. HTML in them stays text, and the result is sanitized:
// only elements of a simple text remain.
type Renderer struct {
	parser goldmark.Markdown
	// sanitize is a function because a field of the type bluemonday.Policy would bring all its
	// methods into the program (see docs/decisions/binary-size.md).
	sanitize func(html []byte) []byte
	cache    *renderedTexts
}

// New returns a Renderer.
func New() Renderer {
	sanitizer := bluemonday.NewPolicy()
	sanitizer.AllowStandardURLs()
	sanitizer.AllowElements("p", "br", "hr", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li", "h2", "h3", "h4",
		"table", "thead", "tbody", "tr", "th", "td")
	sanitizer.AllowAttrs("href").OnElements("a")
	sanitizer.RequireNoFollowOnLinks(true)
	sanitizer.AddTargetBlankToFullyQualifiedLinks(true)
	return Renderer{goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify)), sanitizer.SanitizeBytes, &renderedTexts{}}
}

// Render returns the HTML of a text.
func (m Renderer) Render(text string) (template.HTML, error) {
	var out bytes.Buffer
	if err := m.parser.Convert([]byte(limitSyntax(text)), &out); err != nil {
		return "", err
	}
	return template.HTML(m.sanitize(out.Bytes())), nil
}

// Quote escapes an answer that is inserted into Markdown.
func Quote(text string) string {
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

// renderedTexts caches the HTML of texts that are the same for all respondents.
type renderedTexts struct {
	mu    sync.Mutex
	texts map[string]template.HTML
	size  int
}

// maxRenderedBytes is the size of the cache: texts and their HTML.
const maxRenderedBytes = 4 << 20

// RenderCached renders a text without inserted answers.
func (m Renderer) RenderCached(text string) (template.HTML, error) {
	m.cache.mu.Lock()
	html, ok := m.cache.texts[text]
	m.cache.mu.Unlock()
	if ok {
		return html, nil
	}
	html, err := m.Render(text)
	if err == nil {
		m.cache.put(text, html)
	}
	return html, err
}

func (c *renderedTexts) put(text string, html template.HTML) {
	size := len(text) + len(html) + 128
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.texts[text]; ok || size > maxRenderedBytes/4 {
		return
	}
	if c.texts == nil || c.size+size > maxRenderedBytes {
		c.texts, c.size = map[string]template.HTML{}, 0
	}
	c.texts[strings.Clone(text)] = html
	c.size += size
}
