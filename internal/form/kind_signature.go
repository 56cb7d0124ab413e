package form

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// signature is a drawing, uploaded as a file, or a typed name.
type signature struct{}

func (signature) Name() string                                             { return "signature" }
func (signature) Properties() []string                                     { return nil }
func (signature) Check(*Field, func(property, format string, args ...any)) {}

const maxSignature = 200 // characters of a typed name

func (signature) FileRules(*Field) FileRules {
	return FileRules{Accept: []string{"image"}, MaxFiles: 1, MaxSize: 1 << 20}
}

// ParseForm prefers the drawing to the name: both have the same control.
func (signature) ParseForm(f *Field, in url.Values) any {
	if list := formFiles(f, in); list != nil {
		return list[len(list)-1:] // a new drawing replaces the one before
	}
	for _, text := range in[f.Key] {
		text = strings.TrimSpace(text)
		if _, isFile := parseFormFile(text); text != "" && !isFile {
			return text
		}
	}
	return nil
}

var errSignature = answerError("draw your signature or type your name")

func (signature) Validate(_ *Field, value any) (any, error) {
	switch v := value.(type) {
	case []any:
		return validateFiles(v, 1)
	case string:
		text, err := asLine(v)
		switch {
		case err != nil:
			return nil, err
		case text == "":
			return nil, nil
		case utf8.RuneCountInString(text) > maxSignature:
			return nil, tooLong(maxSignature)
		case isFileID(text):
			return nil, errSignature
		}
		return textFrom(value, text), nil
	}
	return nil, errSignature
}

func (signature) Schema(*Field) map[string]any {
	schema := filesSchema(1)
	schema["type"], schema["maxLength"] = []string{"string", "array"}, maxSignature
	return schema
}

func (signature) Traits() Traits {
	return Traits{
		Files: true, Group: true, NoDefault: true, Asset: "signature", Sketch: "signature", Example: exampleName,
	}
}

func (signature) Info() KindInfo {
	return KindInfo{"Signature", "Drawn with a finger, mouse or pen, or typed", "Files", "signature", "sign, draw, contract"}
}
