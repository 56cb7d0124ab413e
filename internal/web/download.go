package web

import (
	"archive/zip"
	"compress/flate"
	"encoding/json"
	"io"
	"time"

	"formulary/internal/download"
	"formulary/internal/export"
	"formulary/internal/form"
	"formulary/internal/store"
)

// downloadAccount is everything that an account has, as one file: what the person
// told about themselves, their forms, the responses to them, their applications.
func (web *Handler) downloadAccount(v *pageRequest) error {
	apps, err := web.Store.Apps(v.ctx(), v.user.ID)
	if err != nil {
		return err
	}
	return download.Send(v.w, v.r, web.Log, download.File{Name: "formulary.zip", MediaType: "application/zip"}, func(out io.Writer) error {
		archive := zip.NewWriter(out)
		// Everything of an account can be much: time matters more than the last bytes.
		archive.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
		return web.writeAccount(v, archive, apps)
	})
}

func (web *Handler) writeAccount(v *pageRequest, out *zip.Writer, apps any) error {
	add := func(name string, content any) error {
		file, err := out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: web.Now()})
		if err != nil {
			return err
		}
		lines := json.NewEncoder(file)
		lines.SetIndent("", "  ")
		return lines.Encode(content)
	}
	p := v.user
	if err := add("account.json", map[string]any{
		"id": p.ID, "email": p.Email, "name": p.Name, "language": p.Language, "time_zone": p.TimeZone, "created_at": p.CreatedAt.UTC().Format(time.RFC3339),
	}); err != nil {
		return err
	}
	if err := add("applications.json", apps); err != nil {
		return err
	}
	const some = 100
	for offset := int64(0); ; offset += some {
		forms, _, err := web.Store.Forms(v.ctx(), p.ID, store.FormFilter{}, "created_at", store.Page{Limit: some, Offset: offset})
		if err != nil {
			return err
		}
		for _, f := range forms {
			d, err := web.Store.Draft(v.ctx(), p.ID, f.ID)
			if err != nil {
				return err
			}
			if err := add("forms/"+f.ID+".json", map[string]any{
				"id": f.ID, "title": f.Title, "description": f.Description, "language": f.Language, "slug": f.Slug, "status": f.Status, "version": f.Version,
				"fields": d.Fields, "endings": d.Endings, "settings": d.Settings,
			}); err != nil {
				return err
			}
			if err := web.writeResponses(v, out, f); err != nil {
				return err
			}
		}
		if len(forms) < some {
			return out.Close()
		}
	}
}

func (web *Handler) writeResponses(v *pageRequest, out *zip.Writer, f form.Form) error {
	if f.ResponseCount == 0 {
		return nil
	}
	versions, err := web.Store.Definitions(v.ctx(), v.user.ID, f.ID)
	if err != nil {
		return err
	}
	var file io.Writer
	if file, err = out.CreateHeader(&zip.FileHeader{Name: "responses/" + f.ID + ".jsonl", Method: zip.Deflate, Modified: web.Now()}); err != nil {
		return err
	}
	return export.Table{Format: "jsonl", Versions: versions}.Responses(file, func(fn func(form.Response) error) error {
		return web.Store.StreamResponses(v.ctx(), v.user.ID, f.ID, store.ResponseFilter{}, fn)
	})
}
