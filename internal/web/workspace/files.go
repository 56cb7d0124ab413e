package workspace

import (
	"archive/zip"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"formulary/internal/download"
	"formulary/internal/fault"
	"formulary/internal/file"
	"formulary/internal/form"
	"formulary/internal/media"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// shownFile is a file of a response.
type shownFile struct {
	form.File
	SizeText string
	Address  string // of the download
	Picture  bool   // it has a thumbnail
	Player   string // audio or video, if the browser can play it
	Blocked  string // why it cannot be downloaded
}

// Types that browsers show without running anything in them. All others are only
// downloaded: an SVG or HTML file could contain scripts.
var (
	pictureTypes  = map[string]bool{"image/jpeg": true, "image/png": true, "image/apng": true, "image/gif": true, "image/webp": true}
	playableTypes = map[string]string{
		"audio/mpeg": "audio", "audio/wav": "audio", "audio/flac": "audio", "audio/aac": "audio", "audio/mp4": "audio", "audio/x-m4a": "audio", "audio/ogg": "audio",
		"video/mp4": "video", "video/webm": "video", "video/ogg": "video", "video/x-m4v": "video", "video/quicktime": "video",
	}
)

func fileAddress(formID, fileID string) string { return "/forms/" + formID + "/files/" + fileID }

// sizeText formats a size in the language of the user.
func (pages *Pages) sizeText(req *page.Request, n int64) string {
	return strings.Replace(store.FormatBytes(n), ".", pages.Site.TranslateFor(req, "."), 1)
}

// shownFiles returns the files in an answer. It reads their rows only if the service scans
// files: all others can be downloaded.
func (pages *Pages) shownFiles(req *page.Request, formID string, answer any) ([]shownFile, error) {
	var list []shownFile
	for _, f := range form.FilesOf(answer) {
		s := shownFile{
			File: f, SizeText: pages.sizeText(req, f.Size), Address: fileAddress(formID, f.ID), Picture: pictureTypes[f.Type], Player: playableTypes[f.Type],
		}
		if pages.Files.Scanner != nil {
			row, err := pages.Store.File(req.Context(), req.Owner(), formID, f.ID)
			if err != nil {
				return nil, err
			}
			if err := pages.Files.Readable(row); err != nil {
				s.Blocked, s.Picture, s.Player = fault.Wrap(err).Localize(pages.Site.Languages.Catalog(req.Language())), false, ""
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// DownloadFile sends a file of a response.
func (pages *Pages) DownloadFile(req *page.Request) error {
	f, content, err := pages.Files.Read(req.Context(), req.Owner(), req.PathValue("id"), req.PathValue("file"))
	if err != nil {
		return err
	}
	defer content.Close()
	return serveFile(req, f, media.ContentDisposition(f.Name), content)
}

// PlayFile sends a recording or a film to the player on the page of a response.
func (pages *Pages) PlayFile(req *page.Request) error {
	f, content, err := pages.Files.Read(req.Context(), req.Owner(), req.PathValue("id"), req.PathValue("file"))
	if err != nil {
		return err
	}
	defer content.Close()
	if playableTypes[f.Type] == "" {
		return fault.NotFound
	}
	return serveFile(req, f, "inline", content)
}

func serveFile(req *page.Request, f store.File, disposition string, content io.ReadSeeker) error {
	return download.Serve(req.W, req.Request, download.Stored{
		MediaType: f.Type, Disposition: disposition, ETag: `"` + f.SHA256 + `"`, Modified: f.CreatedAt, CacheControl: "private, no-cache",
	}, content)
}

// ShowThumbnail sends a small picture of a file.
func (pages *Pages) ShowThumbnail(req *page.Request) error {
	f, content, err := pages.Files.Thumbnail(req.Context(), req.Owner(), req.PathValue("id"), req.PathValue("file"))
	if err != nil {
		return err
	}
	defer content.Close()
	// The bytes never change. Who may see them can change, so shared caches keep nothing.
	return download.Serve(req.W, req.Request, download.Stored{
		MediaType: f.Type, Disposition: "inline", ETag: `"` + f.SHA256 + `-thumbnail"`, Modified: f.CreatedAt, CacheControl: "private, max-age=3600",
	}, content)
}

// DownloadResponseFiles sends the files of one response as a ZIP archive.
func (pages *Pages) DownloadResponseFiles(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	r, err := pages.Store.Response(req.Context(), req.Owner(), f.ID, req.PathValue("response"))
	if err != nil {
		return err
	}
	d, err := pages.Store.Definition(req.Context(), req.Owner(), f.ID, r.Version)
	if err != nil {
		return err
	}
	answers, err := r.Answers()
	if err != nil {
		return err
	}
	list := d.Files(answers)
	if len(list) == 0 {
		return fault.NotFound
	}
	name := fileName(f.Title, f.ID) + " " + r.ID + ".zip"
	return download.Send(req.W, req.Request, pages.Site.Log, download.File{Name: name, MediaType: "application/zip"}, func(out io.Writer) error {
		return pages.zipFiles(req, out, f.ID, list)
	})
}

// zipFiles writes files to an archive, in a folder for each question. Files are not
// compressed: most of them are already.
func (pages *Pages) zipFiles(req *page.Request, out io.Writer, formID string, list []form.FileAnswer) error {
	archive := zip.NewWriter(out)
	used := map[string]bool{}
	for _, answer := range list {
		for _, id := range answer.IDs {
			if err := pages.zipFile(req, archive, used, [3]string{formID, answer.Field, id}); err != nil {
				return err
			}
		}
	}
	return archive.Close()
}

func (pages *Pages) zipFile(req *page.Request, archive *zip.Writer, used map[string]bool, at [3]string) error {
	f, content, err := pages.Files.Read(req.Context(), req.Owner(), at[0], at[2])
	if fault.Wrap(err).Code == fault.FileBlocked {
		return nil // the page of the response says why
	}
	if err != nil {
		return err
	}
	defer content.Close()
	entry, err := archive.CreateHeader(&zip.FileHeader{Name: freeName(used, at[1]+"/"+f.Name), Method: zip.Store, Modified: f.CreatedAt})
	if err != nil {
		return err
	}
	_, err = io.Copy(entry, content)
	return err
}

// freeName returns a name that the archive does not have yet, and takes it. Some systems
// do not tell capitals apart.
func freeName(used map[string]bool, name string) string {
	extension := path.Ext(name)
	free := name
	for n := 2; used[strings.ToLower(free)]; n++ {
		free = strings.TrimSuffix(name, extension) + " (" + strconv.Itoa(n) + ")" + extension
	}
	used[strings.ToLower(free)] = true
	return free
}

// AddPicture stores a picture for a form, for the builder.
func (pages *Pages) AddPicture(req *page.Request) error {
	if _, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id")); err != nil {
		return err
	}
	p, err := pages.Files.AddPicture(req.Context(), req.Owner(), file.NewPicture{Name: "picture", Body: req.Stream(), Size: req.ContentLength})
	switch e := fault.Wrap(err); {
	case err == nil:
	case e.Code == fault.Invalid || e.Code == fault.TooLarge || e.Code == fault.QuotaReached:
		return pages.sendDraftError(req, e.Code.Status(), e)
	default:
		return err
	}
	return req.SendJSON(http.StatusCreated, map[string]any{"id": p.ID, "width": p.Width, "height": p.Height})
}
