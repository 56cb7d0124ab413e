package page

import "formulary/internal/store"

// ResponseEdit is a response whose answers its owner edits in the controls of the form.
type ResponseEdit struct {
	Form    store.PublicForm // in the version that was answered
	Answers map[string]any   // as they are stored now
	Tag     string           // of these answers
	Action  string           // address that the answers are posted to
	Cancel  string           // address of the response
	// Save stores valid answers and answers the request. seen is the tag of the answers that were
	// edited; if others are stored now, Save returns fault.Conflict.
	Save func(answers map[string]any, seen string) error
}
