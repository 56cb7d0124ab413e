package api

import (
	"net/http"
	"reflect"
	"time"

	"formulary/internal/account"
	"formulary/internal/export"
	"formulary/internal/fault"
	"formulary/internal/form"
)

type exportInput struct {
	ID     string `path:"id" doc:"The form's id" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Format string `query:"format" default:"csv" enum:"csv,xlsx,jsonl" doc:"The kind of file" example:"csv"`
	Header string `query:"header" default:"labels" enum:"labels,keys" doc:"Whether the header row and chosen answers are the form's labels or its keys and values"`
	filterInput
}

// stalled is how long a reader may take for the next piece of an export.
const stalled = 30 * time.Second

// exportResponses streams: what is read from the store is on its way to the
// reader before the next is read.
func (a *API) exportResponses() *operation {
	op := &operation{
		Method: "GET", Path: "/api/v1/forms/{id}/responses/export", ID: "exportResponses", Tag: "Responses", Status: 200, CORS: true,
		Scope:       account.ResponsesRead,
		Summary:     "Export responses as a file",
		Description: "Streamed, the oldest first. In CSV, a text that a spreadsheet would run as a formula has a ' in front.",
		Errors:      []fault.Code{fault.BadQuery, fault.NoResource},
		input:       reflect.TypeFor[exportInput](),
	}
	for _, f := range export.Formats {
		op.media = append(op.media, f.Type)
	}
	read := readerOf(op.input)
	op.serve = func(a *API, w http.ResponseWriter, r *http.Request, path []string) (failed error) {
		begun := a.Now()
		caller, err := a.authorize(w, r, op.Scope)
		defer func() { a.note(&caller, w, r, op.Status, failed, begun) }()
		if err != nil {
			return err
		}
		var in exportInput
		if err := read(reflect.ValueOf(&in).Elem(), w, r, path); err != nil {
			return err
		}
		filter, err := a.filter(r.Context(), caller.Owner(), in.ID, in.filterInput)
		if err != nil {
			return err
		}
		versions, err := a.Store.Definitions(r.Context(), caller.Owner(), in.ID)
		if err != nil {
			return err
		}
		out := &download{w: w, control: http.NewResponseController(w), name: in.ID + "." + in.Format, format: in.Format}
		table := export.Table{Format: in.Format, Labels: in.Header != "keys", Versions: versions}
		err = table.Responses(out, func(fn func(form.Response) error) error {
			return a.Store.EachResponse(r.Context(), caller.Owner(), in.ID, filter, fn)
		})
		if err != nil && out.begun {
			// Half a file must not look like a whole one.
			if r.Context().Err() == nil { // or else the caller left
				a.Log.Error("export broke off", "error", err, "form", in.ID)
			}
			panic(http.ErrAbortHandler)
		}
		if err == nil {
			out.begin() // a file may be empty
		}
		return err
	}
	return op
}

// download is a file on its way to a reader; the headers go with its first piece.
type download struct {
	w            http.ResponseWriter
	control      *http.ResponseController
	name, format string
	begun        bool
}

func (d *download) begin() {
	if d.begun {
		return
	}
	d.begun = true
	h := d.w.Header()
	for _, f := range export.Formats {
		if f.Name == d.format {
			h.Set("Content-Type", f.Type)
		}
	}
	h.Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
	h["Cache-Control"] = privateNoStore
	d.w.WriteHeader(http.StatusOK)
}

func (d *download) Write(p []byte) (int, error) {
	d.begin()
	// The server's limit is for whole answers, and this one may be long.
	d.control.SetWriteDeadline(time.Now().Add(stalled))
	return d.w.Write(p)
}
