package web

import (
	"cmp"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"

	"formulary/internal/export"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

// fileName is a title as the name of a file, on any system.
func fileName(title, otherwise string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return r
		}
		return ' '
	}, title)
	return cmp.Or(strings.Join(strings.Fields(name), " "), otherwise)
}

// exportResponses is a file of what the table shows.
func (web *Web) exportResponses(v *visit) error {
	id := v.r.PathValue("id")
	filter, kept, err := web.responseQuery(v, id)
	if _, ok := errors.AsType[*store.FilterMistake](err); ok {
		return fault.New(fault.BadRequest, "This is not an answer to this question.")
	}
	if err != nil {
		return err
	}
	f, err := web.Store.Form(v.ctx(), v.person.ID, id)
	if err != nil {
		return err
	}
	versions, err := web.Store.Definitions(v.ctx(), v.person.ID, id)
	if err != nil {
		return err
	}
	format := v.r.URL.Query().Get("format")
	for _, known := range export.Formats {
		if known.Name != format {
			continue
		}
		h := v.w.Header()
		h.Set("Content-Type", known.Type)
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(f.Title, id) + "." + format}))
		out := &patient{v.w, http.NewResponseController(v.w)}
		err := export.Table{Format: format, Labels: true, Versions: versions, Only: kept["column"]}.Responses(out, func(fn func(form.Response) error) error {
			return web.Store.EachResponse(v.ctx(), v.person.ID, id, filter, fn)
		})
		if err != nil {
			// Half a file must not look like a whole one.
			if v.ctx().Err() == nil { // or else the caller left
				web.Log.Error("export broke off", "error", err, "form", id)
			}
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	return fault.New(fault.BadRequest, "There is no such kind of file.")
}

// patient writes for as long as its reader goes on reading.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p *patient) Write(content []byte) (int, error) {
	p.control.SetWriteDeadline(time.Now().Add(30 * time.Second))
	return p.ResponseWriter.Write(content)
}
