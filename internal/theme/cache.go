package theme

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"sync"
)

// Style is a rule of CSS with the colors of a form, to be sent inside of a page.
type Style struct {
	CSS  string // :root{…}, or several rules
	Hash string // of the text, as a source of a Content-Security-Policy: 'sha256-…'
}

// NewStyle computes the style of a form.
func NewStyle(s Spec) Style { return newStyle(":root{" + CSS(s) + "}") }

// NewStyles computes a rule for each mood, instead of that of the spec. Its selector is the
// prefix and the name of the mood, such as .mood-paper.
func NewStyles(s Spec, prefix string) Style {
	css := ""
	for _, s.Mood = range Moods() {
		css += prefix + string(s.Mood) + "{" + CSS(s) + "}"
	}
	return newStyle(css)
}

// Rule gives the elements with a selector the colors of a form.
type Rule struct {
	Selector string
	Spec     Spec
}

// Styles returns one style with all rules, for a page that shows several forms.
func (c *Cache) Styles(rules []Rule) Style {
	var css strings.Builder
	for _, rule := range rules {
		css.WriteString(rule.Selector + strings.TrimPrefix(c.Style(rule.Spec).CSS, ":root"))
	}
	return newStyle(css.String())
}

func newStyle(css string) Style {
	sum := sha256.Sum256([]byte(css))
	return Style{css, "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"}
}

// Cache keeps styles that were computed. It may be used concurrently.
type Cache struct {
	maxBytes int
	mu       sync.RWMutex
	bytes    int
	styles   map[Spec]Style
}

// cacheOverhead is the memory of an entry in addition to its texts.
const cacheOverhead = 128

// NewCache returns a cache that needs up to maxBytes.
func NewCache(maxBytes int) *Cache {
	return &Cache{maxBytes: maxBytes, styles: map[Spec]Style{}}
}

// Style returns the style of a form. An unknown mood is Plain. A nil cache computes each style
// again.
func (c *Cache) Style(spec Spec) Style {
	if c == nil {
		return NewStyle(spec)
	}
	key := spec.known()
	c.mu.RLock()
	style, ok := c.styles[key]
	c.mu.RUnlock()
	if ok {
		return style
	}
	style = NewStyle(spec)
	c.mu.Lock()
	defer c.mu.Unlock()
	size := len(style.CSS) + len(style.Hash) + cacheOverhead
	if c.bytes+size > c.maxBytes {
		// Computing all again takes microseconds each, so no order of use is recorded.
		clear(c.styles)
		c.bytes = 0
	}
	if _, ok := c.styles[key]; !ok && size <= c.maxBytes {
		c.styles[key] = style
		c.bytes += size
	}
	return style
}
