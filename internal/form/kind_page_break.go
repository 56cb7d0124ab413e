package form

import "net/url"

// pageBreak begins a page; its label is the page's title, and its condition is
// the page's.
type pageBreak struct{ words }

func (pageBreak) Name() string                                             { return "page_break" }
func (pageBreak) Properties() []string                                     { return nil }
func (pageBreak) Check(*Field, func(property, format string, args ...any)) {}
func (pageBreak) Post(*Field, url.Values) any                              { return nil }
func (pageBreak) Answer(*Field, any) (any, error)                          { return nil, nil }
func (pageBreak) Schema(*Field) map[string]any                             { return nil }

// About is how owners know it.
func (pageBreak) About() About { return About{"Page break", "Start a new page", "Layout and logic"} }
