package form

import "net/url"

// statement is Markdown text between questions.
type statement struct{}

func (statement) Name() string                      { return "statement" }
func (statement) Properties() []string              { return []string{"text"} }
func (statement) ParseForm(*Field, url.Values) any  { return nil }
func (statement) Validate(*Field, any) (any, error) { return nil, nil }
func (statement) Schema(*Field) map[string]any      { return nil }

func (statement) Check(f *Field, invalid func(property, format string, args ...any)) {
	if f.Label == "" && f.Text == "" {
		invalid("text", "enter a heading or some text")
	}
}

func (statement) Traits() Traits { return Traits{} }

func (statement) Info() KindInfo {
	return KindInfo{"Statement", "Text or a heading between questions", "Layout and logic", "statement", "heading, text, paragraph, section, description"}
}
