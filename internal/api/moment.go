package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"formulary/internal/form"
)

// Moment is a time in an answer.
type Moment time.Time

// MarshalJSON writes it.
func (m Moment) MarshalJSON() ([]byte, error) {
	return append(form.AppendTime(append(make([]byte, 0, 26), '"'), time.Time(m)), '"'), nil
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
