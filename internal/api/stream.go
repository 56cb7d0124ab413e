package api

import (
	"context"
	"net/http"
	"reflect"

	"formulary/internal/oauth"
)

// streamRequest is a request whose response is sent while it is made. In is a pointer, as in
// typedOperation.
type streamRequest[In any] struct {
	w      http.ResponseWriter
	r      *http.Request
	ctx    context.Context // of the account
	caller *oauth.Principal
	in     In
}

// newStream returns an operation that writes its response itself. run may return an error only
// before it has written anything.
func newStream[In any](op operation, run func(streamRequest[In]) error) *operation {
	op.CORS, op.input = true, reflect.TypeFor[In]().Elem()
	read := newInputReader(op.input, op.MaxBody)
	op.serve = func(a *API, w http.ResponseWriter, r *http.Request) (failed error) {
		started := a.Now()
		caller, err := a.authorize(w, r, &op)
		defer func() { a.logRequest(&caller, w, r, statusOf(op.Status, failed), started) }()
		if err != nil {
			return err
		}
		in := reflect.New(op.input)
		if err := read(in.Elem(), w, r); err != nil {
			return err
		}
		return run(streamRequest[In]{w, r, a.contextFor(r, &caller), &caller, in.Interface().(In)})
	}
	return &op
}
