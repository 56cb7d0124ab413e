package api

import (
	"slices"
	"testing"
)

// The operations whose answers may be compressed are these. Whoever adds one makes
// sure that its answers carry no secret.
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
