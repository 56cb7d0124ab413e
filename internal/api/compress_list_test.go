package api

import (
	"slices"
	"testing"
)

// These operations may be compressed. Before adding one, make sure that its responses
// contain no secret.
func TestCompressibleOperations(t *testing.T) {
	want := []string{"listForms", "formSchema", "listVersions", "readVersion", "listResponses", "exportResponses", "readSummary", "openapi"}
	var got []string
	for _, op := range new(API).table() {
		if !compressible(op.ID) {
			continue
		}
		got = append(got, op.ID)
		if op.Method != "GET" || op.Tag == "OAuth 2.0" {
			t.Errorf("%s %s may be compressed", op.Method, op.Path)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q may be compressed, want %q", got, want)
	}
}
