package api

import (
	"io"

	"formulary/internal/account"
	"formulary/internal/download"
	"formulary/internal/export"
	"formulary/internal/fault"
	"formulary/internal/form"
)

type exportInput struct {
	ID     string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Format string `query:"format" default:"csv" enum:"csv,xlsx,jsonl" doc:"File format" example:"csv"`
	Header string `query:"header" default:"labels" enum:"labels,keys" doc:"Use labels, or keys and option values, in the header row and cells"`
	filterInput
}

// exportResponses streams: rows are sent before the next ones are read from the store.
func (a *API) exportResponses() *operation {
	op := operation{
		Method: "GET", Path: "/api/v1/forms/{id}/responses/export", ID: "exportResponses", Tag: "Responses", Status: 200,
		Scope:       account.ResponsesRead,
		Summary:     "Export responses",
		Description: "Streams the file, oldest first. In CSV, text that a spreadsheet would run as a formula is prefixed with '.",
		Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
	}
	for _, f := range export.Formats {
		op.media = append(op.media, f.Type)
	}
	return newStream(op, func(s streamRequest[exportInput]) error {
		owner, in := s.caller.Owner(), s.in
		filter, err := a.filter(s.ctx, owner, in.ID, in.filterInput)
		if err != nil {
			return err
		}
		versions, err := a.Store.Definitions(s.ctx, owner, in.ID)
		if err != nil {
			return err
		}
		table := export.Table{Format: in.Format, Labels: in.Header != "keys", Versions: versions}
		format, _ := export.ParseFormat(in.Format) // validated by the enumeration
		return download.Send(s.w, s.r, a.Log, download.File{Name: in.ID + "." + in.Format, MediaType: format.Type}, func(out io.Writer) error {
			return table.Responses(out, func(fn func(form.Response) error) error {
				return a.Store.StreamResponses(s.ctx, owner, in.ID, filter, fn)
			})
		})
	})
}
