package form

import (
	"strings"
)

// fileMark precedes the ID of every file in stored answers.
const fileMark = `"` + fileIDPrefix

// WithFileURLs returns the response with the API address of each file in its answers. base is
// the address of the service. Responses without files are returned as they are.
func (r Response) WithFileURLs(base string) Response {
	if !strings.Contains(r.JSON, fileMark) {
		return r
	}
	var out strings.Builder
	rest := r.JSON
	for {
		// Quotes inside of a text are escaped, so this is the value of an id.
		at := strings.Index(rest, fileMark)
		if at < 0 {
			break
		}
		end := at + 1 + fileIDLength
		if end >= len(rest) || !isFileID(rest[at+1:end]) || !isFileObject(rest[:at]) {
			out.WriteString(rest[:at+len(fileMark)])
			rest = rest[at+len(fileMark):]
			continue
		}
		closing := end + objectEnd(rest[end:])
		out.WriteString(rest[:closing])
		out.WriteString(`,"url":"` + FileURL(base, r.FormID, rest[at+1:end]) + `"`)
		rest = rest[closing:]
	}
	out.WriteString(rest)
	r.JSON = out.String()
	return r
}

// isFileObject reports whether a text that precedes an ID ends with the beginning of an object
// in a list. PostgreSQL stores answers with spaces.
func isFileObject(before string) bool {
	before = strings.TrimRight(before, " ")
	before, ok := strings.CutSuffix(before, ":")
	if !ok {
		return false
	}
	before, ok = strings.CutSuffix(strings.TrimRight(before, " "), `{"id"`)
	before = strings.TrimRight(before, " ")
	return ok && (strings.HasSuffix(before, "[") || strings.HasSuffix(before, ","))
}

// objectEnd returns the position of the brace that closes an object without objects in it.
// text starts with the quote at the end of a value.
func objectEnd(text string) int {
	inText := true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && c == '}':
			return i
		}
	}
	return len(text)
}

// FileURL returns the API address of a file of a response to a form.
func FileURL(base, formID, fileID string) string {
	return base + "/api/v1/forms/" + formID + "/files/" + fileID
}
