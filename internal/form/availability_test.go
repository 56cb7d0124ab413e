package form

import (
	"encoding/json"
	"testing"
)

// Encoded metadata decodes to the same value.
func TestMetadata(t *testing.T) {
	for _, m := range []Metadata{{}, {Source: "json"}, {Source: "api"}, {Source: "page", Seconds: 42}, {Source: "json", EditedAt: "2026-05-31T17:30:00Z"}} {
		text, err := m.Encode()
		var back Metadata
		if err != nil || json.Unmarshal([]byte(text), &back) != nil || back != m {
			t.Errorf("%+v is encoded as %s and decoded as %+v (%v)", m, text, back, err)
		}
	}
}
