package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"formulary/internal/form"
)

// Timestamp is a time in a response body.
type Timestamp time.Time

func (m Timestamp) MarshalJSON() ([]byte, error) {
	return append(form.AppendTime(append(make([]byte, 0, 26), '"'), time.Time(m)), '"'), nil
}

func (Timestamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "string", Format: "date-time"}
}

// optionalTimestamp returns nil for the zero time.
func optionalTimestamp(t time.Time) *Timestamp {
	if t.IsZero() {
		return nil
	}
	m := Timestamp(t)
	return &m
}
