package workspace

import (
	"cmp"
	"errors"
	"io"
	"strings"
	"unicode"

	"formulary/internal/account"
	"formulary/internal/download"
	"formulary/internal/export"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// fileName turns a title into a file name that is valid on all systems.
func fileName(title, fallback string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return r
		}
		return ' '
	}, title)
	return cmp.Or(strings.Join(strings.Fields(name), " "), fallback)
}

// archiveFormat is an archive of the table and the files of the responses.
var archiveFormat = export.Format{Name: "zip", Type: zipType}

// ExportResponses sends the responses and columns of the table as a file.
func (pages *Pages) ExportResponses(req *page.Request) error {
	id := req.PathValue("id")
	q, err := pages.readQuery(req, id)
	if _, ok := errors.AsType[*store.FilterError](err); ok {
		return fault.New(fault.BadRequest, "This value doesn’t match any answer to that question.")
	}
	if err != nil {
		return err
	}
	f, err := pages.Store.Form(req.Context(), req.Owner(), id)
	if err != nil {
		return err
	}
	versions, kept, filter := q.versions, q.kept, q.filter
	if ids := req.URL.Query()["response"]; len(ids) > 0 {
		filter.IDs = ids[:min(len(ids), maxSelected)]
	}
	format, ok := export.ParseFormat(req.URL.Query().Get("format"))
	isArchive := req.URL.Query().Get("format") == archiveFormat.Name
	if isArchive {
		format = archiveFormat
	} else if !ok {
		return fault.New(fault.BadRequest, "That export format isn’t supported.")
	}
	table := export.Table{Format: format.Name, Labels: true, Versions: versions, Only: kept["column"], BaseURL: pages.Site.BaseURL}
	if table.Marks, err = pages.hasMarks(req, id); err != nil {
		return err
	}
	filter.Marks = table.Marks
	if err := pages.Store.RecordExport(req.Context(), req.Owner(), id, format.Name); err != nil {
		return err
	}
	allowed := pages.stillAllowed(req, account.ResponsesRead)
	each := func(fn func(form.Response) error) error {
		return pages.Store.StreamResponses(req.Context(), req.Owner(), id, filter, download.While(allowed, fn))
	}
	return download.Send(req.W, req.Request, pages.Site.Log, download.File{Name: fileName(f.Title, id) + "." + format.Name, MediaType: format.Type}, func(out io.Writer) error {
		if isArchive {
			return pages.Files.Archive(req.Context(), out, req.Owner(), table, each)
		}
		return table.Responses(out, each)
	})
}
