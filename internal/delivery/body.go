package delivery

import (
	"encoding/json"
	"fmt"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
)

// testEvent is the type of the request that tries a webhook.
const testEvent store.EventKind = "webhook.test"

// payload is the body of a request.
type payload struct {
	Type      store.EventKind `json:"type"`
	Timestamp string          `json:"timestamp"`
	Data      payloadData     `json:"data"`
}

type payloadData struct {
	Form     formData `json:"form"`
	Response any      `json:"response,omitempty"`
}

type formData struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Version int64  `json:"version"`
}

// responseData is a response as the API returns it.
type responseData struct {
	ID          string          `json:"id"`
	FormID      string          `json:"form_id"`
	Version     int64           `json:"version"`
	SubmittedAt string          `json:"submitted_at"`
	Answers     json.RawMessage `json:"answers"`
	Metadata    json.RawMessage `json:"metadata"`
}

// deletedData is all that is left of a response.
type deletedData struct {
	ID string `json:"id"`
}

// encodeBody builds the body for an event. response is its response as it is now; nil: the
// event has none, or it is deleted.
func encodeBody(f formData, e store.Event, at time.Time, response *form.Response) ([]byte, error) {
	p := payload{Type: e.Kind, Timestamp: formatTime(at), Data: payloadData{Form: f}}
	switch {
	case response != nil:
		p.Data.Response = responseData{
			ID: response.ID, FormID: response.FormID, Version: response.Version, SubmittedAt: formatTime(response.SubmittedAt),
			Answers: json.RawMessage(response.JSON), Metadata: json.RawMessage(response.Metadata),
		}
	case e.ResponseID != "":
		p.Data.Response = deletedData{e.ResponseID}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Position, err)
	}
	return text, nil
}

func formatTime(t time.Time) string { return string(form.AppendTime(nil, t)) }
