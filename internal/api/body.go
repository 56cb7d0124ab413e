package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"formulary/internal/fault"
)

// Maximum sizes of request bodies, in bytes.
const (
	maxForm    = 1 << 20
	maxAnswers = 1 << 20
	maxOAuth   = 64 << 10
	maxWebhook = 64 << 10
	maxMail    = 64 << 10
)

const (
	maxDepth = 64

	// smallBody is the size up to which Content-Length is trusted for allocation.
	smallBody = 16 << 10
)

// readBody parses a JSON body strictly. Duplicate keys, wrong case, unknown fields,
// invalid UTF-8 and deep nesting, which encoding/json accepts, are errors that name the
// position.
func readBody(w http.ResponseWriter, r *http.Request, maxBytes int64, into any) ([]byte, error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, fault.New(fault.UnsupportedMedia, "Send the body as application/json.")
	}
	text, err := readAll(w, r, maxBytes)
	if err != nil {
		return nil, err
	}
	return text, parseBody(text, into)
}

// isJSON has a fast path for the usual spelling of the content type.
func isJSON(media string) bool {
	if media == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(media)
	return err == nil && kind == "application/json"
}

func readAll(w http.ResponseWriter, r *http.Request, maxBytes int64) ([]byte, error) {
	var text []byte
	var err error
	if 0 < r.ContentLength && r.ContentLength <= min(maxBytes, smallBody) {
		text = make([]byte, r.ContentLength)
		if _, err = io.ReadFull(r.Body, text); err == nil {
			r.Body.Close() // tell net/http that nothing remains to be read
		}
	} else {
		text, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fault.New(fault.TooLarge, "The body is too large. The limit is %d KiB.", maxBytes>>10)
	}
	if err != nil {
		return nil, &fault.Error{Code: fault.BadJSON, Message: "The request ended before the whole body was received.", Cause: err}
	}
	return text, nil
}

func parseBody(text []byte, into any) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return fault.New(fault.BadJSON, "The body is empty. Send a JSON object.")
	}
	if first := bytes.TrimSpace(text)[0]; first == 'n' || first == '"' || first == '[' {
		return fault.New(fault.BadJSON, "The body must be a JSON object.")
	}
	if isTooDeep(text) {
		return fault.New(fault.BadJSON, "The body is nested too deeply. The limit is %d levels.", maxDepth)
	}
	err := json.Unmarshal(text, into, json.RejectUnknownMembers(true))
	if err == nil {
		return rejectNull(text)
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		field := strings.Join(slices.Collect(semantic.JSONPointer.Tokens()), ".")
		if errors.Is(err, json.ErrUnknownName) {
			return &fault.Error{Code: fault.BadJSON, Message: fmt.Sprintf("Unknown field %q.", field),
				Details: []fault.Detail{{Field: field, Message: "unknown field"}}, Cause: err}
		}
		if field == "" {
			return &fault.Error{Code: fault.BadJSON, Message: "The body must be a JSON object.", Cause: err}
		}
		invalid := fault.InvalidField(field, "has the wrong type: %s", kindName(semantic.JSONKind))
		invalid.Cause = err
		return invalid
	}
	message := "The body is not valid JSON."
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName):
			message = fmt.Sprintf("The field %q appears more than once.", syntax.JSONPointer.LastToken())
		default:
			message = fmt.Sprintf("The body is not valid JSON (at byte %d).", syntax.ByteOffset)
		}
	}
	return &fault.Error{Code: fault.BadJSON, Message: message, Cause: err}
}

// Answers are the answers in a request. Objects are decoded into an any, which is much
// faster than decoding into a map.
type Answers map[string]any

func (a *Answers) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return json.UnmarshalDecode(d, (*map[string]any)(a))
	}
	var value any
	err := json.UnmarshalDecode(d, &value)
	*a, _ = value.(map[string]any)
	return err
}

// rejectNull rejects null outside of answers: clients omit fields without a value. It
// builds the path of a null only for the error, because doing so for each would copy
// long names repeatedly.
func rejectNull(text []byte) error {
	if !bytes.Contains(text, []byte("null")) {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	inAnswers := false
	for {
		token, err := d.ReadToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		depth := d.StackDepth()
		if depth == 1 && token.Kind() == '"' {
			if _, length := d.StackIndex(1); length%2 == 1 { // a name, not a value
				inAnswers = token.String() == "answers"
			}
		}
		if token.Kind() == 'n' && (depth == 1 || !inAnswers) {
			field := strings.Join(slices.Collect(d.StackPointer().Tokens()), ".")
			return fault.InvalidField(field, "cannot be null; omit the field instead")
		}
	}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "this"
}

// isTooDeep counts brackets outside of strings. It runs before the parser, which
// recurses.
func isTooDeep(text []byte) bool {
	if bytes.Count(text, []byte{'{'})+bytes.Count(text, []byte{'['}) <= maxDepth {
		return false // too few brackets in total
	}
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
