package web

import (
	"cmp"
	"errors"
	"io"
	"strings"
	"unicode"

	"formulary/internal/download"
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
func (web *Handler) exportResponses(v *pageRequest) error {
	id := v.r.PathValue("id")
	filter, kept, err := web.responseQuery(v, id)
	if _, ok := errors.AsType[*store.FilterError](err); ok {
		return fault.New(fault.BadRequest, "This value doesn’t match any answer to that question.")
	}
	if err != nil {
		return err
	}
	f, err := web.Store.Form(v.ctx(), v.owner(), id)
	if err != nil {
		return err
	}
	versions, err := web.Store.Definitions(v.ctx(), v.owner(), id)
	if err != nil {
		return err
	}
	format, ok := export.ParseFormat(v.r.URL.Query().Get("format"))
	if !ok {
		return fault.New(fault.BadRequest, "That export format isn’t supported.")
	}
	table := export.Table{Format: format.Name, Labels: true, Versions: versions, Only: kept["column"]}
	return download.Send(v.w, v.r, web.Log, download.File{Name: fileName(f.Title, id) + "." + format.Name, MediaType: format.Type}, func(out io.Writer) error {
		return table.Responses(out, func(fn func(form.Response) error) error {
			return web.Store.StreamResponses(v.ctx(), v.owner(), id, filter, fn)
		})
	})
}
