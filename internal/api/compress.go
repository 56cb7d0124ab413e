package api

import (
	"net/http"

	"formulary/internal/compress"
)

// compressible reports whether responses of the operation may be compressed. One that
// contains a secret must never be (see package compress), so nothing under /api/oauth2
// is listed, nor an operation that shows a secret once. A missing entry only costs
// bandwidth.
func compressible(id string) bool {
	switch id {
	case "listForms", "formSchema", "listVersions", "readVersion",
		"listResponses", "exportResponses", "readSummary", "openapi":
		return true
	}
	return false
}

// answer serves the operation, compressed if that is allowed and accepted.
func (op *operation) answer(a *API, w http.ResponseWriter, r *http.Request) error {
	if !op.compressible {
		return op.serve(a, w, r)
	}
	compressed := compress.NewPrivateWriter(w, r) // responses are not cached, except for the OpenAPI document
	if compressed == nil {
		return op.serve(a, w, r)
	}
	// An aborted response panics or returns an error. It must not be closed, because it
	// would look complete.
	if err := op.serve(a, compressed, r); err != nil {
		return err
	}
	compressed.Close() // fails only if the client is gone
	return nil
}
