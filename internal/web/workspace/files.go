package workspace

import (
	"io"
	"net/http"
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

// fileRows returns what is known about the files of a response, by ID. If the service does
// not scan files, nothing needs to be known: all can be downloaded.
func (pages *Pages) fileRows(req *page.Request, r form.Response) (map[string]store.File, error) {
	if pages.Files.Scanner == nil {
		return nil, nil
	}
	return pages.Store.FilesOf(req.Context(), req.Owner(), r)
}

// shownFiles returns the files in an answer. rows are from fileRows.
func (pages *Pages) shownFiles(req *page.Request, answer any, rows map[string]store.File) []shownFile {
	var list []shownFile
	for _, f := range form.FilesOf(answer) {
		s := shownFile{
			File: f, SizeText: pages.sizeText(req, f.Size), Address: fileAddress(req.PathValue("id"), f.ID), Picture: pictureTypes[f.Type], Player: playableTypes[f.Type],
		}
		if err := pages.Files.Readable(rows[f.ID]); err != nil {
			s.Blocked, s.Picture, s.Player = pages.Site.TranslateError(req, fault.Wrap(err)).Message, false, ""
		}
		list = append(list, s)
	}
	return list
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

const zipType = "application/zip"

// DownloadResponseFiles sends the files of one response as an archive.
func (pages *Pages) DownloadResponseFiles(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	r, err := pages.Store.Response(req.Context(), req.Owner(), f.ID, req.PathValue("response"))
	if err != nil {
		return err
	}
	if err := pages.Store.RecordFiles(req.Context(), req.Owner(), r); err != nil {
		return err
	}
	name := fileName(f.Title, f.ID) + " " + r.ID + ".zip"
	return download.Send(req.W, req.Request, pages.Site.Log, download.File{Name: name, MediaType: zipType}, func(out io.Writer) error {
		return pages.Files.ArchiveResponse(req.Context(), out, req.Owner(), r)
	})
}

// pictureBounds are the sizes of pictures by their use: a logo is 64 pixels wide on the page,
// and a few times that on other screens and cards.
var pictureBounds = map[string]media.Bounds{"logo": {Width: 512, Height: 512}, "cover": {Width: 2000, Height: 1200}}

// AddPicture stores a picture for a form, for the builder and the design page.
func (pages *Pages) AddPicture(req *page.Request) error {
	if _, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id")); err != nil {
		return err
	}
	p, err := pages.Files.AddPicture(req.Context(), req.Owner(), file.NewPicture{
		Name: "picture", Body: req.Stream(), Size: req.ContentLength, Bounds: pictureBounds[req.URL.Query().Get("for")],
	})
	switch e := fault.Wrap(err); {
	case err == nil:
	case e.Code == fault.Invalid || e.Code == fault.TooLarge || e.Code == fault.QuotaReached:
		return pages.sendDraftError(req, e.Code.Status(), e)
	default:
		return err
	}
	return req.SendJSON(http.StatusCreated, map[string]any{"id": p.ID, "width": p.Width, "height": p.Height})
}
