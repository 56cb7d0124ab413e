package form

import (
	"cmp"
	"net/url"
	"unicode/utf8"
)

// Limits of inserted answers, in bytes. An answer can be inserted hundreds of times, so
// a page has a budget. Longer text is cut with an ellipsis; readable pages stay far
// below.
const (
	maxPipedValue = 32 << 10  // one answer
	maxPipedText  = 128 << 10 // all answers in one text
	maxPipedPage  = 512 << 10 // all answers in the texts of one page
	maxPipedURL   = 8 << 10   // all answers in one address
)

const ellipsis = "…"

// Interpolator inserts answers into the texts of one page, within one budget.
type Interpolator struct {
	definition *Definition
	format     func(f *Field, key string) string
	formatted  map[string]string // by key, cut to maxPipedValue
	left       int               // budget of the page
}

// NewInterpolator starts a page. format converts an answer, or its absence, to text; it
// is called once per key.
func (d *Definition) NewInterpolator(format func(f *Field, key string) string) *Interpolator {
	return &Interpolator{definition: d, format: format, left: maxPipedPage}
}

// Text replaces the references in a text. quote, if not nil, escapes the inserted
// answers. Missing answers without a fallback are left out, with their punctuation.
func (p *Interpolator) Text(text string, quote func(string) string) string {
	return dropNoAnswers(p.fill(text, quote, maxPipedText, noAnswer))
}

// fill replaces the references, by none if there is neither an answer nor a fallback. It has a
// limit for the inserted answers.
func (p *Interpolator) fill(text string, quote func(string) string, most int, none string) string {
	return replacePipes(text, func(found pipe) string {
		limit := min(most, p.left)
		if quote != nil {
			limit /= 3 // no quoting makes more than three bytes of one
		}
		value := cmp.Or(p.value(found.key), found.fallback)
		if value == "" {
			return none
		}
		value = cutBytes(value, limit)
		if quote != nil {
			value = quote(value)
		}
		most -= len(value)
		p.left -= len(value)
		return value
	})
}

// value returns the answer as text.
func (p *Interpolator) value(key string) string {
	text, ok := p.formatted[key]
	if !ok {
		text = cutBytes(p.format(p.definition.field(key), key), maxPipedValue)
		if p.formatted == nil {
			p.formatted = map[string]string{}
		}
		p.formatted[key] = text
	}
	return text
}

// cutBytes cuts the text after most bytes and appends an ellipsis, which is not part of
// the limit.
func cutBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	most = max(0, most)
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + ellipsis
}

// Interpolate is Text for a page with a single text.
func (d *Definition) Interpolate(text string, format func(f *Field, key string) string) string {
	return d.NewInterpolator(format).Text(text, nil)
}

// InterpolateURL inserts escaped answers into a URL.
func (d *Definition) InterpolateURL(address string, format func(f *Field, key string) string) string {
	return d.NewInterpolator(format).fill(address, url.QueryEscape, maxPipedURL, "")
}
