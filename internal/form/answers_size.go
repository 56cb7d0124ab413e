package form

import (
	"encoding/json"

	"formulary/internal/fault"
)

// MaxAnswers is the maximum size of the answers of one response, in bytes of JSON.
// Lists, feeds and summaries read many responses at a time.
const MaxAnswers = 256 << 10

var errAnswersTooLong = answerError("shorten this answer; all answers together are too long")

// CheckSize returns an error if the encoded answers exceed MaxAnswers. The error names
// the longest answer.
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
