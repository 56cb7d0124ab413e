package form_test

import (
	"encoding/json"
	"testing"
	"time"

	"formulary/internal/form"
)

// Answers and metadata are copied as they are stored, whatever they contain.
func TestResponseJSON(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.FixedZone("", 3600))
	r := form.Response{ID: "rsp_1", FormID: "frm_1", Version: 12, SubmittedAt: at, JSON: `{"q":"</script>\u2028\"","n":1.50}`, Metadata: `{"source":"api"}`}
	const want = `,{"id":"rsp_1","form_id":"frm_1","version":12,"submitted_at":"2026-03-04T04:06:07.008Z",` +
		`"answers":{"q":"</script>\u2028\"","n":1.50},"metadata":{"source":"api"}}`
	got := r.AppendJSON([]byte(","))
	if string(got) != want || !json.Valid(got[1:]) {
		t.Errorf("got %s", got)
	}
}
