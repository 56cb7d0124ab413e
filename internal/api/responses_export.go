package api

import (
	"io"

	"formulary/internal/account"
	"formulary/internal/download"
	"formulary/internal/export"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// An archive has the files of responses in it too.
const (
	archiveFormat = "zip"
	zipType       = "application/zip"
)

type exportInput struct {
	ID     string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Format string `query:"format" default:"csv" enum:"csv,xlsx,jsonl,zip" doc:"File format. A zip file contains the CSV file and all files of the responses." example:"csv"`
	Header string `query:"header" default:"labels" enum:"labels,keys" doc:"Use labels, or keys and option values, in the header row and cells"`
	Marks  string `query:"marks" enum:"true,false" default:"false" doc:"Also export status, starred and tags, as columns after the version"`
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
	op.media = append(op.media, zipType)
	return newStream(op, func(s streamRequest[*exportInput]) error {
		owner, in := s.caller.Owner(), s.in
		filter, err := a.filter(s.ctx, owner, in.ID, in.filterInput)
		if err != nil {
			return err
		}
		versions, err := a.Store.Definitions(s.ctx, owner, in.ID)
		if err != nil {
			return err
		}
		table := export.Table{Format: in.Format, Labels: in.Header != "keys", Versions: versions, BaseURL: a.BaseURL, Marks: in.Marks == "true"}
		filter.Marks = table.Marks
		allowed := a.stillGranted(s.r, *s.caller, &op)
		each := func(fn func(form.Response) error) error {
			return a.Store.StreamResponses(s.ctx, owner, in.ID, filter, download.While(func() error { return allowed(s.ctx) }, fn))
		}
		if err := a.Store.RecordExport(s.ctx, owner, in.ID, in.Format); err != nil {
			return err
		}
		media := zipType
		if format, ok := export.ParseFormat(in.Format); ok {
			media = format.Type
		}
		return download.Send(s.w, s.r, a.Log, download.File{Name: in.ID + "." + in.Format, MediaType: media}, func(out io.Writer) error {
			if in.Format == archiveFormat {
				return a.Files.Archive(s.ctx, out, owner, table, each)
			}
			return table.Responses(out, each)
		})
	})
}

// readResponseFiles streams the files of one response.
func (a *API) readResponseFiles() *operation {
	return newStream(operation{
		Method: "GET", Path: "/api/v1/forms/{id}/responses/{response}/files", ID: "readResponseFiles", Tag: "Files", Status: 200,
		Scope:       account.ResponsesRead,
		Summary:     "Download the files of a response",
		Description: "Streams a zip file. Files that cannot be downloaded, for example because they were not scanned for malware yet, are listed in a text file in it.",
		Errors:      []fault.Code{fault.NotFoundInAccount},
		media:       []string{zipType},
	}, func(s streamRequest[*responseInput]) error {
		r, err := a.Store.Response(s.ctx, s.caller.Owner(), s.in.ID, s.in.Response)
		if err != nil {
			return err
		}
		if err := a.Store.RecordFiles(s.ctx, s.caller.Owner(), r); err != nil {
			return err
		}
		return download.Send(s.w, s.r, a.Log, download.File{Name: r.ID + ".zip", MediaType: zipType}, func(out io.Writer) error {
			return a.Files.ArchiveResponse(s.ctx, out, s.caller.Owner(), r)
		})
	})
}
