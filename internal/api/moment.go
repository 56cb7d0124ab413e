package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Moment is a time in an answer: RFC 3339 in UTC, always with three decimals, so
// that times sort as their texts do.
type Moment time.Time

const momentFormat = "2006-01-02T15:04:05.000Z"

// MarshalJSON writes it.
func (m Moment) MarshalJSON() ([]byte, error) {
	return time.Time(m).UTC().AppendFormat(make([]byte, 0, len(momentFormat)+2), `"`+momentFormat+`"`), nil
}

// Schema describes it in the document.
func (Moment) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "string", Format: "date-time"}
}

// moment is nil for no time at all.
func moment(t time.Time) *Moment {
	if t.IsZero() {
		return nil
	}
	m := Moment(t)
	return &m
}
