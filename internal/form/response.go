package form

import "time"

// Response is what somebody answered.
type Response struct {
	ID          string
	FormID      string
	Version     int64 // of the form that was answered
	Serial      int64 // its place among the form's responses
	SubmittedAt time.Time
	Answers     map[string]any
}
