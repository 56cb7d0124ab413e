package form

import "net/url"

// pageBreak starts a page. Its label is the title of the page, and its condition
// applies to the whole page.
type pageBreak struct{}

func (pageBreak) Name() string                                             { return "page_break" }
func (pageBreak) Properties() []string                                     { return nil }
func (pageBreak) Check(*Field, func(property, format string, args ...any)) {}
func (pageBreak) ParseForm(*Field, url.Values) any                         { return nil }
func (pageBreak) Validate(*Field, any) (any, error)                        { return nil, nil }
func (pageBreak) Schema(*Field) map[string]any                             { return nil }

func (pageBreak) Traits() Traits { return Traits{PageBreak: true} }

func (pageBreak) Info() KindInfo {
	return KindInfo{"Page break", "Start a new page", "Layout and logic", "page", "new page, section, step, divider"}
}
