package api

import (
	"net/http"

	"formulary/internal/compress"
)

// compressible lists the operations whose answers may be sent with gzip. Others are
// not: an answer that carries a secret must never be compressed (package compress says
// why), and one that is missing here only costs bytes. So nothing under /api/oauth2
// belongs here, nor an operation that shows a secret once.
func compressible(id string) bool {
	switch id {
	case "listForms", "formSchema", "listVersions", "readVersion",
		"listResponses", "exportResponses", "readSummary", "openapi":
		return true
	}
	return false
}

// answer serves the operation, compressed where that is allowed and asked for.
func (op *operation) answer(a *API, w http.ResponseWriter, r *http.Request) error {
	if !op.zipped {
		return op.serve(a, w, r)
	}
	zipped := compress.NewPrivateWriter(w, r) // no cache stores answers, but for the document
	if zipped == nil {
		return op.serve(a, w, r)
	}
	// An answer that breaks off panics or returns an error. It is not closed, so that
	// it does not look complete.
	if err := op.serve(a, zipped, r); err != nil {
		return err
	}
	zipped.Close() // the caller may have gone
	return nil
}
