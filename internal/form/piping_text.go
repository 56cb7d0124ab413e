package form

import (
	"net/url"
	"unicode/utf8"
)

// What pipes may add, in bytes. An answer can be piped hundreds of times, so a page
// has a budget. What is longer is cut, with an ellipsis; no page that people can
// read gets there.
const (
	maxPipedValue = 32 << 10  // one answer
	maxPipedText  = 128 << 10 // all answers in one text
	maxPipedPage  = 512 << 10 // all answers in the texts of one page
	maxPipedURL   = 8 << 10   // all answers in one address
)

const ellipsis = "…"

// Interpolator puts answers into the texts of one page, within one budget.
type Interpolator struct {
	definition *Definition
	say        func(f *Field, key string) string
	said       map[string]string // by key, cut to maxPipedValue
	left       int               // of the page
}

// NewInterpolator starts a page. say writes an answer, or the lack of one, as text; it is
// called once for each key.
func (d *Definition) NewInterpolator(say func(f *Field, key string) string) *Interpolator {
	return &Interpolator{definition: d, say: say, left: maxPipedPage}
}

// Text puts answers into the places that a text keeps for them. quote, if there is
// one, makes them harmless there.
func (p *Interpolator) Text(text string, quote func(string) string) string {
	return p.fill(text, quote, maxPipedText)
}

// fill is Text with a limit for what the answers add.
func (p *Interpolator) fill(text string, quote func(string) string, most int) string {
	return replacePipes(text, func(key string) string {
		room := min(most, p.left)
		if quote != nil {
			room /= 3 // no quotation makes more than three bytes of one
		}
		value := cutBytes(p.value(key), room)
		if quote != nil {
			value = quote(value)
		}
		most -= len(value)
		p.left -= len(value)
		return value
	})
}

// value is the answer as text.
func (p *Interpolator) value(key string) string {
	text, ok := p.said[key]
	if !ok {
		text = cutBytes(p.say(p.definition.field(key), key), maxPipedValue)
		if p.said == nil {
			p.said = map[string]string{}
		}
		p.said[key] = text
	}
	return text
}

// cutBytes is a text of at most so many bytes, with an ellipsis where it was cut. The
// ellipsis comes on top.
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

// Interpolate is Text of a page that has only this one.
func (d *Definition) Interpolate(text string, say func(f *Field, key string) string) string {
	return d.NewInterpolator(say).Text(text, nil)
}

// InterpolateURL puts answers into an address.
func (d *Definition) InterpolateURL(address string, say func(f *Field, key string) string) string {
	return d.NewInterpolator(say).fill(address, url.QueryEscape, maxPipedURL)
}
