package workspace

import (
	"archive/zip"
	"compress/flate"
	"encoding/json"
	"errors"
	"io"
	"time"

	"formulary/internal/download"
	"formulary/internal/export"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// DownloadAccount sends all data of an account in one file: profile, forms, responses,
// themes and applications.
func (pages *Pages) DownloadAccount(req *page.Request) error {
	apps, err := pages.Store.Apps(req.Context(), req.User.ID)
	if err != nil {
		return err
	}
	if err := pages.Store.RecordAudit(req.Context(), req.Owner(), store.AuditEntry{Action: store.AuditAccountDownloaded, ObjectID: req.User.ID, ObjectName: req.User.DisplayName()}); err != nil {
		return err
	}
	return download.Send(req.W, req.Request, pages.Site.Log, download.File{Name: "formulary.zip", MediaType: "application/zip"}, func(out io.Writer) error {
		archive := zip.NewWriter(out)
		// An account can be large, so speed matters more than size.
		archive.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
		return pages.writeAccount(req, archive, apps)
	})
}

func (pages *Pages) writeAccount(req *page.Request, out *zip.Writer, apps any) error {
	add := func(name string, content any) error {
		file, err := out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: pages.Now()})
		if err != nil {
			return err
		}
		encoder := json.NewEncoder(file)
		encoder.SetIndent("", "  ")
		return encoder.Encode(content)
	}
	user := req.User
	if err := add("account.json", map[string]any{
		"id": user.ID, "email": user.Email, "name": user.Name, "language": user.Language, "time_zone": user.TimeZone, "created_at": user.CreatedAt.UTC().Format(time.RFC3339),
	}); err != nil {
		return err
	}
	if err := add("applications.json", apps); err != nil {
		return err
	}
	themes, _, err := pages.Store.Themes(req.Context(), req.Owner(), store.Page{Limit: store.MaxThemes})
	if err != nil {
		return err
	}
	list := []map[string]any{}
	for _, t := range themes {
		list = append(list, map[string]any{"id": t.ID, "name": t.Name, "design": t.Design})
	}
	if err := add("themes.json", list); err != nil {
		return err
	}
	const batch = 100
	for offset := int64(0); ; offset += batch {
		forms, _, err := pages.Store.Forms(req.Context(), req.Owner(), store.FormFilter{}, "created_at", store.Page{Limit: batch, Offset: offset})
		if err != nil {
			return err
		}
		for _, f := range forms {
			d, err := pages.Store.Draft(req.Context(), req.Owner(), f.ID)
			if err != nil {
				return err
			}
			if err := add("forms/"+f.ID+".json", map[string]any{
				"id": f.ID, "title": f.Title, "description": f.Description, "language": f.Language, "slug": f.Slug, "status": f.Status, "version": f.Version,
				"fields": d.Fields, "endings": d.Endings, "settings": d.Settings, "design": d.Design,
			}); err != nil {
				return err
			}
			if err := pages.writeResponses(req, out, f); err != nil {
				return err
			}
		}
		if len(forms) < batch {
			return out.Close()
		}
	}
}

func (pages *Pages) writeResponses(req *page.Request, out *zip.Writer, f form.Form) error {
	if f.ResponseCount == 0 {
		return nil
	}
	versions, err := pages.Store.Definitions(req.Context(), req.Owner(), f.ID)
	if err != nil {
		return err
	}
	var file io.Writer
	if file, err = out.CreateHeader(&zip.FileHeader{Name: "responses/" + f.ID + ".jsonl", Method: zip.Deflate, Modified: pages.Now()}); err != nil {
		return err
	}
	var withNotes []string // IDs
	err = export.Table{Format: "jsonl", Versions: versions, Marks: true}.Responses(file, func(fn func(form.Response) error) error {
		return pages.Store.StreamResponses(req.Context(), req.Owner(), f.ID, store.ResponseFilter{Marks: true}, func(r form.Response) error {
			if r.Marks.Notes > 0 {
				withNotes = append(withNotes, r.ID)
			}
			return fn(r)
		})
	})
	if err != nil || len(withNotes) == 0 {
		return err
	}
	if file, err = out.CreateHeader(&zip.FileHeader{Name: "notes/" + f.ID + ".jsonl", Method: zip.Deflate, Modified: pages.Now()}); err != nil {
		return err
	}
	return pages.writeNotes(req, file, f.ID, withNotes)
}

// writeNotes writes the notes of responses, one per line.
func (pages *Pages) writeNotes(req *page.Request, out io.Writer, formID string, responses []string) error {
	lines := json.NewEncoder(out)
	for _, id := range responses {
		notes, err := pages.Store.Notes(req.Context(), req.Owner(), store.ResponseKey{FormID: formID, ID: id})
		if errors.Is(err, fault.NotFound) {
			continue // deleted since
		}
		if err != nil {
			return err
		}
		for _, n := range notes {
			if err := lines.Encode(map[string]string{
				"response_id": id, "author_id": n.Author, "text": n.Text, "created_at": n.CreatedAt.Format(time.RFC3339),
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
