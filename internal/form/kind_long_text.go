package form

import (
	"net/url"
	"strings"
	"unicode"
)

// longText is text of several lines.
type longText struct{}

const maxLongText = 20_000

func (longText) Name() string                          { return "long_text" }
func (longText) Properties() []string                  { return []string{"placeholder", "min_length", "max_length"} }
func (longText) ParseForm(f *Field, in url.Values) any { return formValue(f, in) }

func (longText) Check(f *Field, invalid func(property, format string, args ...any)) {
	checkLengths(f, maxLongText, invalid)
}

func (longText) Validate(f *Field, value any) (any, error) {
	text, err := asText(value)
	if err != nil || text == "" {
		return nil, err
	}
	// Browsers send line breaks as CR LF.
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		return nil, errControl
	}
	return textFrom(value, text), lengthWithin(f, text, maxLongText)
}

func (longText) Schema(f *Field) map[string]any { return textSchema(f, maxLongText) }

func (longText) Traits() Traits {
	return Traits{Multiline: true, Sketch: "textarea", Rules: textRules(maxLongText), Example: exampleName}
}

func (longText) Info() KindInfo {
	return KindInfo{"Long text", "Several lines of text", "Text", "lines", "textarea, paragraph, comment, essay, message"}
}
