package api

import (
	"io"
	"net/http"
	"reflect"

	"formulary/internal/account"
	"formulary/internal/download"
	"formulary/internal/export"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

type exportInput struct {
	ID     string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Format string `query:"format" default:"csv" enum:"csv,xlsx,jsonl" doc:"File format" example:"csv"`
	Header string `query:"header" default:"labels" enum:"labels,keys" doc:"Use labels, or keys and option values, in the header row and cells"`
	filterInput
}

// exportResponses streams: rows are sent before the next ones are read from the store.
func (a *API) exportResponses() *operation {
	op := &operation{
		Method: "GET", Path: "/api/v1/forms/{id}/responses/export", ID: "exportResponses", Tag: "Responses", Status: 200, CORS: true,
		Scope:       account.ResponsesRead,
		Summary:     "Export responses",
		Description: "Streams the file, oldest first. In CSV, text that a spreadsheet would run as a formula is prefixed with '.",
		Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		input:       reflect.TypeFor[exportInput](),
	}
	for _, f := range export.Formats {
		op.media = append(op.media, f.Type)
	}
	read := newInputReader(op.input, op.MaxBody)
	op.serve = func(a *API, w http.ResponseWriter, r *http.Request) (failed error) {
		started := a.Now()
		caller, err := a.authorize(w, r, op.Scope)
		defer func() { a.logRequest(&caller, w, r, statusOf(op.Status, failed), started) }()
		if err != nil {
			return err
		}
		var in exportInput
		if err := read(reflect.ValueOf(&in).Elem(), w, r); err != nil {
			return err
		}
		ctx := store.ForAccount(r.Context(), caller.Owner())
		filter, err := a.filter(ctx, caller.Owner(), in.ID, in.filterInput)
		if err != nil {
			return err
		}
		versions, err := a.Store.Definitions(ctx, caller.Owner(), in.ID)
		if err != nil {
			return err
		}
		table := export.Table{Format: in.Format, Labels: in.Header != "keys", Versions: versions}
		format, _ := export.ParseFormat(in.Format) // validated by the enumeration
		return download.Send(w, r, a.Log, download.File{Name: in.ID + "." + in.Format, MediaType: format.Type}, func(out io.Writer) error {
			return table.Responses(out, func(fn func(form.Response) error) error {
				return a.Store.StreamResponses(ctx, caller.Owner(), in.ID, filter, fn)
			})
		})
	}
	return op
}
