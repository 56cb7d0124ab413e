package web

import (
	"html/template"
	"strings"
	"sync"
)

// Reading Markdown takes time in the square of the brackets, asterisks and the like
// in a paragraph, and of the depth of quotes and lists. What is beyond these limits
// stays text.
const (
	maxInlineSyntax = 500 // in one paragraph
	maxNesting      = 12  // quotes and lists at the beginning of a line
)

// inlineSyntax are the characters that Markdown has to look for a partner of.
const inlineSyntax = "[]*_`<!"

// limitSyntax puts a backslash before the marks of a text that are too many.
func limitSyntax(text string) string {
	if len(text) <= maxInlineSyntax && strings.Count(text, ">") <= maxNesting {
		return text
	}
	var out strings.Builder
	marks := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			marks = 0
		}
		start := nestedTooDeep(line)
		out.WriteString(line[:start])
		if start < len(line) && start > 0 {
			out.WriteByte('\\')
		}
		escaped := start > 0
		for i := start; i < len(line); i++ {
			c := line[i]
			if strings.IndexByte(inlineSyntax, c) >= 0 && !escaped {
				if marks++; marks > maxInlineSyntax {
					out.WriteByte('\\')
				}
			}
			escaped = c == '\\' && !escaped
			out.WriteByte(c)
		}
	}
	return out.String()
}

// nestedTooDeep is where the first marker of a quote or list stands that is too deep,
// or 0 if there is none.
func nestedTooDeep(line string) int {
	depth := 0
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '>' || (c == '-' || c == '+' || c == '*') && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t'):
			if depth++; depth > maxNesting {
				return i
			}
			i++
			continue
		case c >= '0' && c <= '9':
			end := i
			for end < len(line) && line[end] >= '0' && line[end] <= '9' {
				end++
			}
			if end < len(line) && (line[end] == '.' || line[end] == ')') {
				if depth++; depth > maxNesting {
					return end
				}
				i = end + 1
				continue
			}
		}
		break
	}
	return 0
}

// renderedTexts keeps the HTML of texts that owners wrote, which are the same for all
// respondents.
type renderedTexts struct {
	mu    sync.Mutex
	texts map[string]template.HTML
	size  int
}

// maxRenderedBytes is how many bytes of texts and their HTML are kept.
const maxRenderedBytes = 4 << 20

// renderCached is draw for a text without answers in it.
func (m markdown) renderCached(text string) (template.HTML, error) {
	m.drawn.mu.Lock()
	html, ok := m.drawn.texts[text]
	m.drawn.mu.Unlock()
	if ok {
		return html, nil
	}
	html, err := m.render(text)
	if err == nil {
		m.drawn.put(text, html)
	}
	return html, err
}

func (d *renderedTexts) put(text string, html template.HTML) {
	size := len(text) + len(html) + 128
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.texts[text]; ok || size > maxRenderedBytes/4 {
		return
	}
	if d.texts == nil || d.size+size > maxRenderedBytes {
		d.texts, d.size = map[string]template.HTML{}, 0
	}
	d.texts[strings.Clone(text)] = html
	d.size += size
}
