package page

import (
	"bytes"
	"encoding/json"
	"fmt"

	"formulary/internal/form"
)

// kindText is what the builder shows about a question type in its lists. Pages that only show
// questions do not need it.
type kindText struct {
	Description string `json:"description"`
	Group       string `json:"group"`
	Synonyms    string `json:"synonyms"`
}

// kindTexts is a script with the texts of all question types and with the properties that
// owners can set.
func kindTexts() ([]byte, error) {
	texts := map[string]kindText{}
	for _, k := range form.Kinds() {
		texts[k.Name()] = kindText{k.Info().Description, k.Info().Group, k.Info().Synonyms}
	}
	var out bytes.Buffer
	for _, part := range []struct {
		name  string
		value any
	}{{"kindTexts", texts}, {"commonProperties", form.CommonProperties}, {"kindProperties", form.KindProperties}} {
		encoded, err := json.Marshal(part.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "export const %s=%s\n", part.name, encoded)
	}
	return out.Bytes(), nil
}
