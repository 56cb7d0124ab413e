package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"formulary/internal/form"
)

// Timestamp is a time in an answer.
type Timestamp time.Time

// MarshalJSON writes it.
func (m Timestamp) MarshalJSON() ([]byte, error) {
	return append(form.AppendTime(append(make([]byte, 0, 26), '"'), time.Time(m)), '"'), nil
}

// Schema describes it in the document.
func (Timestamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "string", Format: "date-time"}
}

// optionalTimestamp is nil for no time at all.
func optionalTimestamp(t time.Time) *Timestamp {
	if t.IsZero() {
		return nil
	}
	m := Timestamp(t)
	return &m
}
