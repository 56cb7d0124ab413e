package form_test

import (
	"encoding/json"
	"strings"
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
	stored := form.StoredResponse{ID: []byte(r.ID), FormID: r.FormID, Version: r.Version, SubmittedAt: r.SubmittedAt, JSON: []byte(r.JSON), Metadata: []byte(r.Metadata)}
	if got := stored.AppendJSON([]byte(","), "https://example.com"); string(got) != want {
		t.Errorf("as stored: %s", got)
	}
}

// Files have an address, also in responses that are sent as they are stored.
func TestStoredResponseWithFiles(t *testing.T) {
	r := form.Response{ID: "rsp_1", FormID: "frm_1", JSON: `{"cv":[{"id":"fil_01k9z8m7q3e4r5t6y7v8w9x0a1","name":"a.pdf"}]}`, Metadata: `{}`}
	stored := form.StoredResponse{ID: []byte(r.ID), FormID: r.FormID, JSON: []byte(r.JSON), Metadata: []byte(r.Metadata)}
	want := string(r.WithFileURLs("https://example.com").AppendJSON(nil))
	if got := string(stored.AppendJSON(nil, "https://example.com")); got != want || !strings.Contains(got, "https://example.com/") {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Times have a fixed length and are in UTC.
func TestAppendTime(t *testing.T) {
	for at, want := range map[time.Time]string{
		time.Date(1, 2, 3, 4, 5, 6, 999_999, time.UTC):                                      "0001-02-03T04:05:06.000Z",
		time.Date(1969, 12, 31, 23, 59, 59, 999_000_000, time.UTC):                          "1969-12-31T23:59:59.999Z",
		time.Date(2024, 2, 29, 23, 30, 0, 50_000_000, time.FixedZone("", -3600)):            "2024-03-01T00:30:00.050Z",
		time.Date(9999, 12, 31, 17, 45, 0, 100_000_000, time.FixedZone("Kathmandu", 20700)): "9999-12-31T12:00:00.100Z",
	} {
		if got := string(form.AppendTime(nil, at)); got != want {
			t.Errorf("%s: got %s", want, got)
		}
	}
}
