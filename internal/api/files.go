package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"time"

	"formulary/internal/account"
	"formulary/internal/download"
	"formulary/internal/fault"
	"formulary/internal/file"
	"formulary/internal/form"
	"formulary/internal/media"
	"formulary/internal/respond"
)

// UploadedFile is a file that waits for its response.
type UploadedFile struct {
	ID   string `json:"id" example:"fil_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Name string `json:"name" doc:"The name that was sent, without characters that are not safe" example:"cv.pdf"`
	Size int64  `json:"size" doc:"In bytes" example:"48213"`
	Type string `json:"type" doc:"Media type, judged by the content" example:"application/pdf"`
}

type uploadInput struct {
	ID          string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Field       string `query:"field" maxLength:"64" doc:"Key of the question that the file answers" example:"cv"`
	Upload      string `query:"upload" maxLength:"64" doc:"A random name of 22 to 64 characters, by which the upload can be continued after a lost connection"`
	Disposition string `header:"Content-Disposition" maxLength:"2000" doc:"The name of the file: attachment; filename*=UTF-8''cv.pdf"`
}

const uploadPath = "/f/{id}/files"

// uploadFile stores a file before the response that it belongs to.
func (a *API) uploadFile() *operation {
	op := &operation{
		Method: "POST", Path: uploadPath, ID: "uploadFile", Tag: "Files", Status: 201, Open: true, binary: true,
		Summary: "Upload a file to a form",
		Description: "Sends the bytes of a file as the body. Put the ID that it returns into the answer to the question when you submit the response. " +
			"A file belongs to its form and question and to one response, and is deleted after 24 hours without one.",
		Errors: []fault.Code{fault.BadQuery, fault.BadRequest, fault.NotFoundInAccount, fault.Conflict, fault.FormNotOpen, fault.QuotaReached, fault.TooLarge, fault.Invalid},
		input:  reflect.TypeFor[uploadInput](), output: reflect.TypeFor[UploadedFile](),
	}
	read := newInputReader(op.input, 0)
	op.serve = func(_ *API, w http.ResponseWriter, r *http.Request) error {
		f, err := a.upload(w, r, read)
		return a.answerUpload(w, r, f, err)
	}
	return op
}

// answerUpload sends the file that was uploaded, or why it was refused.
func (a *API) answerUpload(w http.ResponseWriter, r *http.Request, f form.File, err error) error {
	if err != nil {
		a.refuseBody(w, r, err)
		return nil
	}
	w.Header()["Cache-Control"] = noStoreHeader
	writeJSON(w, http.StatusCreated, UploadedFile(f))
	return nil
}

func (a *API) upload(w http.ResponseWriter, r *http.Request, read reader) (form.File, error) {
	var in uploadInput
	if err := a.allowOrigin(w, r); err != nil {
		return form.File{}, err
	}
	if err := a.Respond.AdmitUpload(a.Address(r), w.Header()); err != nil {
		return form.File{}, err
	}
	if err := read(reflect.ValueOf(&in).Elem(), w, r); err != nil {
		return form.File{}, err
	}
	f, err := a.Store.PublicForm(r.Context(), in.ID)
	if err != nil {
		return form.File{}, err
	}
	upload := respond.Upload{Form: f, Field: in.Field, Name: fileName(in.Disposition), Body: newSlowBody(w, r), Size: r.ContentLength, Client: a.Address(r)}
	if in.Upload == "" || upload.Size <= 0 {
		return a.Respond.Upload(r.Context(), upload)
	}
	if err := checkUploadName(in.Upload); err != nil {
		return form.File{}, err
	}
	return a.Respond.UploadPart(r.Context(), file.UploadName{FormID: in.ID, Field: in.Field, Name: in.Upload}, upload, newPart(w, r))
}

// fileName returns the name in a Content-Disposition header. An unreadable one has no name.
func fileName(disposition string) string {
	_, params, err := mime.ParseMediaType(disposition)
	if err != nil {
		return ""
	}
	return params["filename"]
}

// Limits of an upload's duration. The server's own limit is for short bodies.
const (
	readTimeout = 30 * time.Second // for the next bytes
	firstMinute = time.Minute
	minimumRate = 4 << 10 // bytes per second after the first minute
)

// slowBody reads a body for as long as the client keeps sending.
type slowBody struct {
	body    io.Reader
	control *http.ResponseController
	start   time.Time
	set     time.Time // when the deadline was set
	n       int64
}

func newSlowBody(w http.ResponseWriter, r *http.Request) *slowBody {
	return &slowBody{body: r.Body, control: http.NewResponseController(w), start: time.Now()}
}

func (b *slowBody) Read(p []byte) (int, error) {
	now := time.Now()
	if now.Sub(b.set) < time.Second { // setting deadlines costs too much for every read
		return b.read(p)
	}
	b.set = now
	last := b.start.Add(firstMinute + time.Duration(b.n/minimumRate)*time.Second)
	until := now.Add(readTimeout)
	if last.Before(until) {
		until = last
	}
	b.control.SetReadDeadline(until)
	b.control.SetWriteDeadline(until.Add(readTimeout))
	return b.read(p)
}

func (b *slowBody) read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.n += int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fault.New(fault.BadRequest, "The upload was too slow.").WithCause(err)
	}
	return n, err
}

// Limits of what is read of a body after it was refused.
const (
	drainBytes = 256 << 20
	drainTime  = 15 * time.Second
)

// refuseBody writes an error before the whole body was received. Many clients read the
// answer only after they have sent everything, and lose it if the connection is reset while
// they send; so the rest is read, within limits.
func (a *API) refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	control := http.NewResponseController(w)
	control.EnableFullDuplex() // HTTP/2 always is
	w.Header().Set("Connection", "close")
	control.SetWriteDeadline(time.Now().Add(drainTime + readTimeout))
	a.WriteError(w, r, err)
	if r.ContentLength == 0 || control.Flush() != nil {
		return
	}
	control.SetReadDeadline(time.Now().Add(drainTime))
	io.CopyN(io.Discard, r.Body, drainBytes) // an error is the end of it
}

type fileInput struct {
	ID   string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	File string `path:"file" doc:"File ID" example:"fil_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

// readFile sends a file of a response.
func (a *API) readFile() *operation {
	return newStream(operation{
		Method: "GET", Path: "/api/v1/forms/{id}/files/{file}", ID: "readFile", Tag: "Files", Status: 200,
		Scope:       account.ResponsesRead,
		Summary:     "Download a file",
		Description: "Returns the bytes of a file of a response. Range requests are supported. If the service scans files for malware, a file can be downloaded once nothing was found in it.",
		Errors:      []fault.Code{fault.NotFoundInAccount, fault.FileBlocked, fault.BadRange},
		media:       []string{"*/*"}, ranges: true,
	}, func(s streamRequest[*fileInput]) error {
		f, content, err := a.Files.Read(s.ctx, s.caller.Owner(), s.in.ID, s.in.File)
		if err != nil {
			return err
		}
		defer content.Close()
		return download.Serve(s.w, s.r, download.Stored{
			MediaType: f.Type, Disposition: media.ContentDisposition(f.Name), ETag: `"` + f.SHA256 + `"`, Modified: f.CreatedAt,
			CacheControl: "private, no-cache",
		}, content)
	})
}

// NewPicture is a picture that was stored.
type NewPicture struct {
	ID     string `json:"id" doc:"Use it as image of an option, logo or cover" example:"fil_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Name   string `json:"name" example:"logo.png"`
	Size   int64  `json:"size" doc:"In bytes, after it was encoded again" example:"48213"`
	Type   string `json:"type" example:"image/png"`
	Width  int64  `json:"width" doc:"In pixels" example:"640"`
	Height int64  `json:"height" example:"480"`
	URL    string `json:"url" doc:"Public address of the picture" example:"https://forms.example.com/pictures/fil_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

type pictureUploadInput struct {
	Disposition string `header:"Content-Disposition" maxLength:"2000" doc:"The name of the file: attachment; filename*=UTF-8''logo.png"`
}

// addPicture stores a picture of an owner.
func (a *API) addPicture() *operation {
	op := newStream(operation{
		Method: "POST", Path: "/api/v1/files", ID: "addPicture", Tag: "Files", Status: 201, binary: true,
		Scope:   account.FormsWrite,
		Summary: "Upload a picture for your forms",
		Description: "Sends the bytes of a picture as the body: a logo, a cover, or the picture of an option. It is encoded again without metadata. " +
			"Anyone who knows its address can see it.",
		Errors: []fault.Code{fault.BadRequest, fault.QuotaReached, fault.TooLarge, fault.Invalid},
		output: reflect.TypeFor[NewPicture](),
	}, func(s streamRequest[*pictureUploadInput]) error {
		p, err := a.Files.AddPicture(s.ctx, s.caller.Owner(), file.NewPicture{Name: fileName(s.in.Disposition), Body: newSlowBody(s.w, s.r), Size: s.r.ContentLength})
		if err != nil {
			a.refuseBody(s.w, s.r, err)
			return nil
		}
		s.w.Header()["Cache-Control"] = privateNoStoreHeader
		writeJSON(s.w, 201, NewPicture{p.ID, p.Name, p.Size, p.Type, p.Width, p.Height, a.BaseURL + "/pictures/" + p.ID})
		return nil
	})
	return op
}

type pictureInput struct {
	File string `path:"file" doc:"File ID" example:"fil_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

// readPicture sends a picture of an owner to anyone.
func (a *API) readPicture() *operation {
	op := &operation{
		Method: "GET", Path: "/pictures/{file}", ID: "readPicture", Tag: "Files", Status: 200, Open: true, CORS: true,
		Summary:     "Get a picture of a form",
		Description: "Returns a picture that was uploaded for forms. It never changes.",
		Errors:      []fault.Code{fault.NotFoundInAccount, fault.BadRange},
		input:       reflect.TypeFor[pictureInput](), media: []string{"image/png", "image/jpeg"}, ranges: true,
	}
	op.serve = func(_ *API, w http.ResponseWriter, r *http.Request) error {
		p, content, err := a.Files.ReadPicture(r.Context(), r.PathValue("file"))
		if err != nil {
			return err
		}
		defer content.Close()
		return download.Serve(w, r, download.Stored{
			MediaType: p.Type, ETag: `"` + p.ID + `"`, Modified: p.CreatedAt, CacheControl: "public, max-age=31536000, immutable",
		}, content)
	}
	return op
}
