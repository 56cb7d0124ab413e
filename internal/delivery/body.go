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

// formData is the form of an event, as requests show it.
type formData struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Version int64  `json:"version"`
}

// encodeBody builds the body for an event. response is its response as it is now; nil: the
// event has none, or it is deleted.
func encodeBody(f formData, e store.Event, at time.Time, response *form.Response) ([]byte, error) {
	shown, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Position, err)
	}
	out := append([]byte(`{"type":"`), e.Kind...)
	out = form.AppendTime(append(out, `","timestamp":"`...), at)
	out = append(append(out, `","data":{"form":`...), shown...)
	switch {
	case response != nil:
		sent := *response
		sent.Marks = form.Marks{} // receivers are not told when marks change
		out = sent.AppendJSON(append(out, `,"response":`...))
	case e.ResponseID != "": // that is all that is left of it
		out = append(append(append(out, `,"response":{"id":"`...), e.ResponseID...), `"}`...)
	}
	return append(out, "}}"...), nil
}
