package form

import (
	"encoding/json"

	"formulary/internal/fault"
)

// MaxAnswers is how many bytes the answers of one response have at most, as JSON. Lists,
// feeds and summaries read many responses at a time.
const MaxAnswers = 256 << 10

var errAnswersTooLong = answerError("shorten this answer; all answers together are too long")

// CheckSize refuses answers that are longer than MaxAnswers together, as they are encoded.
// The error names the longest one.
func (d *Definition) CheckSize(encoded []byte, answers map[string]any) error {
	if len(encoded) <= MaxAnswers {
		return nil
	}
	longest, length := "", -1
	for _, f := range d.Fields {
		answer, ok := answers[f.Key]
		if !ok {
			continue
		}
		if text, err := json.Marshal(answer); err == nil && len(text) > length {
			longest, length = f.Key, len(text)
		}
	}
	return fault.InvalidFields(fault.DetailOf(longest, errAnswersTooLong))
}
