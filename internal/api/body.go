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

// How many bytes the body of a request may have.
const (
	maxForm    = 1 << 20
	maxAnswers = 1 << 20
	maxOAuth   = 64 << 10
	maxWebhook = 64 << 10
)

const (
	maxDepth = 64

	// Of a body up to this size, its length is believed before it is there.
	smallBody = 16 << 10
)

// readBody reads a JSON body strictly: what encoding/json would let pass (keys
// given twice or in another letter case, unknown fields, broken UTF-8, endless
// nesting) is an error that names the place.
func readBody(w http.ResponseWriter, r *http.Request, most int64, into any) ([]byte, error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, fault.New(fault.UnsupportedMedia, "Send the body as application/json.")
	}
	text, err := readAll(w, r, most)
	if err != nil {
		return nil, err
	}
	return text, parseBody(text, into)
}

// isJSON knows the type as nearly everybody writes it at a glance.
func isJSON(media string) bool {
	if media == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(media)
	return err == nil && kind == "application/json"
}

func readAll(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	var text []byte
	var err error
	if 0 < r.ContentLength && r.ContentLength <= min(most, smallBody) {
		text = make([]byte, r.ContentLength)
		if _, err = io.ReadFull(r.Body, text); err == nil {
			r.Body.Close() // net/http need not look whether there is more
		}
	} else {
		text, err = io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fault.New(fault.TooLarge, "The body is too large. The limit is %d KiB.", most>>10)
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

// rejectNull refuses null: a field without a value is left out. Only inside answers
// does null have a meaning. The path of a null is built for the error alone, as
// building it for each null would copy long names over and over.
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
// would recurse.
func isTooDeep(text []byte) bool {
	if bytes.Count(text, []byte{'{'})+bytes.Count(text, []byte{'['}) <= maxDepth {
		return false // wherever they are
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
