package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"formulary/internal/fault"
)

// ResponseStatus says how far people are with a response.
type ResponseStatus string

// The states of a response. A response is new until a person opens it.
const (
	ResponseNew  ResponseStatus = "new"
	ResponseRead ResponseStatus = "read"
	ResponseDone ResponseStatus = "done"
)

// ResponseStatuses lists all states.
var ResponseStatuses = []ResponseStatus{ResponseNew, ResponseRead, ResponseDone}

// Marks are what people noted about a response. They are not part of what was submitted: feeds,
// live streams and webhooks do not have them.
type Marks struct {
	Status  ResponseStatus // empty: the marks were not read
	Starred bool
	Tags    string // JSON array, as stored; empty: none
	Notes   int64  // number of notes
}

// Limits of marks.
const (
	MaxTags     = 20   // of one response
	MaxFormTags = 200  // of all responses of a form
	MaxTag      = 40   // characters
	MaxNotes    = 100  // of one response
	MaxNote     = 5000 // characters
)

// TagList returns the tags in the order in which they are shown.
func (m Marks) TagList() []string {
	list := []string{}
	if m.Tags != "" && json.Unmarshal([]byte(m.Tags), &list) != nil {
		return []string{}
	}
	return list
}

// EncodeTags returns tags as they are stored.
func EncodeTags(tags []string) (string, error) {
	if len(tags) == 0 {
		return "", nil
	}
	text, err := json.Marshal(tags)
	return string(text), err
}

func (m Marks) appendJSON(out []byte) []byte {
	out = append(append(out, `,"status":"`...), m.Status...)
	out = strconv.AppendBool(append(out, `","starred":`...), m.Starred)
	tags := m.Tags
	if tags == "" {
		tags = "[]"
	}
	out = append(append(out, `,"tags":`...), tags...)
	return strconv.AppendInt(append(out, `,"note_count":`...), m.Notes, 10)
}

// TagKey is the same for tags that differ only in case.
func TagKey(tag string) string { return strings.ToLower(tag) }

// NormalizeTags trims tags and removes repeated ones. Tags contain no commas: exports and inputs
// separate them by commas.
func NormalizeTags(list []string) ([]string, error) {
	// Limit the work before the list is read.
	if len(list) > 5*MaxTags {
		return nil, tooManyTags
	}
	var tags []string
	seen := map[string]bool{}
	for i, text := range list {
		tag := strings.Join(strings.Fields(text), " ")
		field := fmt.Sprintf("tags.%d", i)
		switch {
		case tag == "" || !strings.ContainsFunc(tag, func(r rune) bool { return unicode.IsPrint(r) && !unicode.IsSpace(r) }):
			return nil, fault.InvalidField(field, "use at least one visible character in a tag")
		case utf8.RuneCountInString(tag) > MaxTag:
			return nil, fault.InvalidField(field, "use no more than %d characters in a tag", MaxTag)
		case strings.ContainsFunc(tag, isForbiddenInTag):
			return nil, fault.InvalidField(field, "use no commas and no control characters in a tag")
		}
		if key := TagKey(tag); !seen[key] {
			seen[key] = true
			tags = append(tags, tag)
		}
	}
	if len(tags) > MaxTags {
		return nil, tooManyTags
	}
	return tags, nil
}

var tooManyTags = fault.InvalidField("tags", "enter no more than %d tags", MaxTags)

// isForbiddenInTag also finds invalid UTF-8 and characters that change the direction of what
// follows the tag.
func isForbiddenInTag(r rune) bool {
	return r == ',' || r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// NormalizeNote validates the text of a note.
func NormalizeNote(text string) (string, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	switch {
	case text == "":
		return "", fault.InvalidField("text", "enter a note")
	case utf8.RuneCountInString(text) > MaxNote:
		return "", fault.InvalidField("text", "use no more than %d characters in a note", MaxNote)
	case strings.ContainsFunc(text, forbiddenInText) || !utf8.ValidString(text):
		return "", fault.InvalidField("text", "remove the control characters from the note")
	}
	return text, nil
}

// ParseResponseStatus returns the status of that name.
func ParseResponseStatus(text string) (ResponseStatus, bool) {
	i := slices.Index(ResponseStatuses, ResponseStatus(text))
	if i < 0 {
		return "", false
	}
	return ResponseStatuses[i], true
}
