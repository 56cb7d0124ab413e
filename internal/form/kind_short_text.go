package form

import "net/url"

// shortText is one line of text.
type shortText struct{}

const maxShortText = 1000

func (shortText) Name() string                          { return "short_text" }
func (shortText) Properties() []string                  { return []string{"placeholder", "min_length", "max_length"} }
func (shortText) ParseForm(f *Field, in url.Values) any { return formValue(f, in) }

func (shortText) Check(f *Field, invalid func(property, format string, args ...any)) {
	checkLengths(f, maxShortText, invalid)
}

func (shortText) Validate(f *Field, value any) (any, error) {
	text, err := asLine(value)
	if err != nil || text == "" {
		return nil, err
	}
	return textFrom(value, text), lengthWithin(f, text, maxShortText)
}

func (shortText) Schema(f *Field) map[string]any { return textSchema(f, maxShortText) }

// textSchema is the schema of a text with length limits.
func textSchema(f *Field, most int) map[string]any {
	if f.MaxLength != nil {
		most = *f.MaxLength
	}
	schema := map[string]any{"type": "string", "maxLength": most}
	if f.MinLength != nil {
		schema["minLength"] = *f.MinLength
	}
	return schema
}

func (shortText) Traits() Traits { return Traits{Rules: textRules(maxShortText), Example: exampleName} }

func (shortText) Info() KindInfo {
	return KindInfo{"Short text", "A single line of text", "Text", "text", "input, line, word, comment"}
}
