package form

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Response is what one respondent submitted.
type Response struct {
	ID          string
	FormID      string
	Version     int64 // version of the form that was answered
	Serial      int64 // position among the responses of the form
	SubmittedAt time.Time
	JSON        string // answers, as stored
	Metadata    string // JSON, as stored
	Marks       Marks
}

// Answers decodes the answers.
func (r Response) Answers() (map[string]any, error) {
	answers := map[string]any{}
	return answers, r.AnswersInto(answers)
}

// AnswersInto decodes the answers into a map that callers reuse, replacing its content.
func (r Response) AnswersInto(answers map[string]any) error {
	clear(answers)
	if err := parseAnswers(r.JSON, answers); err != nil {
		return fmt.Errorf("decode answers of %s: %w", r.ID, err)
	}
	return nil
}

// AnswerTag identifies the answers as they are now. It changes with every edit, and not with marks
// or notes.
func (r Response) AnswerTag() string {
	hash := sha256.New()
	for _, text := range []string{r.JSON, r.Metadata} {
		// PostgreSQL returns another order of keys and other spaces than were stored.
		canonical := jsontext.Value(text)
		if canonical.Canonicalize() != nil {
			canonical = jsontext.Value(text)
		}
		hash.Write(append(canonical, '\n'))
	}
	return hex.EncodeToString(hash.Sum(nil)[:12])
}

// AppendJSON appends the response as the API returns it, in one line. Answers and metadata are
// copied as they are stored. Marks that were not read are left out.
func (r Response) AppendJSON(out []byte) []byte {
	out = appendHead(out, r.ID, r.FormID, r.Version, r.SubmittedAt)
	out = append(append(out, `,"answers":`...), r.JSON...)
	out = append(append(out, `,"metadata":`...), r.Metadata...)
	if r.Marks.Status != "" {
		out = r.Marks.appendJSON(out)
	}
	return append(out, '}')
}

// appendHead appends the members of a response before its answers.
func appendHead[Text string | []byte](out []byte, id Text, formID string, version int64, at time.Time) []byte {
	out = append(append(out, `{"id":"`...), id...)
	out = append(append(out, `","form_id":"`...), formID...)
	out = strconv.AppendInt(append(out, `","version":`...), version, 10)
	return append(AppendTime(append(out, `,"submitted_at":"`...), at), '"')
}

// AppendTime appends a time in RFC 3339 with three decimals in UTC, so that times sort
// as text. It is written by hand because exports format millions of times.
func AppendTime(out []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	milli := t.Nanosecond() / 1e6
	out = appendTwoDigits(out, year/100%100)
	out = append(appendTwoDigits(out, year%100), '-')
	out = append(appendTwoDigits(out, int(month)), '-')
	out = append(appendTwoDigits(out, day), 'T')
	out = append(appendTwoDigits(out, hour), ':')
	out = append(appendTwoDigits(out, minute), ':')
	out = append(appendTwoDigits(out, second), '.', byte('0'+milli/100))
	return append(appendTwoDigits(out, milli%100), 'Z')
}

// appendTwoDigits appends a number from 0 to 99.
func appendTwoDigits(out []byte, n int) []byte { return append(out, byte('0'+n/10), byte('0'+n%10)) }

// Encode writes answers as JSON, in the order of the questions.
func (d *Definition) Encode(answers map[string]any) ([]byte, error) {
	out := append(make([]byte, 0, 64+32*len(answers)), '{')
	var err error
	for _, f := range d.Fields {
		answer, ok := answers[f.Key]
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), f.Key...), '"', ':')
		if out, err = appendAnswer(out, answer); err != nil {
			return nil, fmt.Errorf("encode answer to %s: %w", f.Key, err)
		}
	}
	return append(out, '}'), nil
}

func appendAnswer(out []byte, answer any) ([]byte, error) {
	switch a := answer.(type) {
	case string:
		return jsontext.AppendQuote(out, a)
	case bool:
		return strconv.AppendBool(out, a), nil
	case float64:
		if whole := int64(a); float64(whole) == a && max(whole, -whole) < 1<<53 && (whole != 0 || !math.Signbit(a)) {
			return strconv.AppendInt(out, whole, 10), nil
		}
		number, err := json.Marshal(a)
		return append(out, number...), err
	case []string:
		out = append(out, '[')
		for i, text := range a {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = jsontext.AppendQuote(out, text); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case []File:
		list, err := json.Marshal(a)
		return append(out, list...), err
	case map[string]any:
		out = append(out, '{')
		for i, part := range slices.Sorted(maps.Keys(a)) {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = jsontext.AppendQuote(out, part); err != nil {
				return nil, err
			}
			if out, err = appendAnswer(append(out, ':'), a[part]); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	}
	return nil, fmt.Errorf("unsupported answer type %T", answer)
}

// EncodeText returns a text as JSON in the form in which answers are stored.
func EncodeText(text string) (string, error) {
	out, err := jsontext.AppendQuote(nil, text)
	return string(out), err
}

// JSON converts a value in text form to the JSON of a stored answer to the field.
func (f *Field) JSON(value string) (string, error) {
	switch {
	case f.IsNumeric():
		return encodeNumber(value)
	case f.IsBoolean():
		yes, err := strconv.ParseBool(value)
		return strconv.FormatBool(yes), err
	}
	if f.Traits().Calculated { // a number or a text
		if n, err := encodeNumber(value); err == nil {
			return n, nil
		}
	}
	return EncodeText(value)
}

func encodeNumber(value string) (string, error) {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(n)
	return string(text), err
}
