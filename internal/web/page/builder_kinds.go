package page

import (
	"encoding/json"
	"fmt"

	"formulary/internal/form"
	"formulary/internal/locale"
)

// kindText is what the builder shows about a question type in its list of types.
type kindText struct {
	Description string `json:"description"`
	Group       string `json:"group"`
	Synonyms    string `json:"synonyms"`
}

// builderScripts are modules with what the builder needs to know when an owner adds a question
// (builder-kinds.js) or edits its properties (builder-fields.js).
func builderScripts() (map[string][]byte, error) {
	texts := map[string]kindText{}
	for _, k := range form.Kinds() {
		texts[k.Name()] = kindText{k.Info().Description, k.Info().Group, k.Info().Synonyms}
	}
	scripts := map[string][]byte{}
	for _, constant := range []struct {
		script, name string
		value        any
	}{
		{"builder-kinds.js", "kindTexts", texts},
		{"builder-fields.js", "commonProperties", form.CommonProperties}, {"builder-fields.js", "kindProperties", form.KindProperties},
		{"builder-fields.js", "formLanguages", locale.FormLanguages},
	} {
		encoded, err := json.Marshal(constant.value)
		if err != nil {
			return nil, err
		}
		scripts[constant.script] = fmt.Appendf(scripts[constant.script], "export const %s=%s\n", constant.name, encoded)
	}
	return scripts, nil
}
