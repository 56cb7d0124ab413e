package api

import (
	"net/http"
	"reflect"
	"time"

	"formulary/internal/fault"
	"formulary/internal/file"
	"formulary/internal/form"
)

// minUploadName is how many characters the name of an upload has at least: who knows it can
// continue the upload.
const minUploadName = 22

func checkUploadName(name string) error {
	if len(name) < minUploadName {
		return fault.New(fault.BadQuery, "upload must have at least %d characters.", minUploadName)
	}
	return nil
}

// newPart returns the body of a request as a part of an upload.
func newPart(w http.ResponseWriter, r *http.Request) *file.Part {
	control := http.NewResponseController(w)
	return &file.Part{Body: newSlowBody(w, r), Stop: func() { control.SetReadDeadline(time.Unix(1, 0)) }}
}

type pendingUploadInput struct {
	ID     string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Field  string `query:"field" maxLength:"64" doc:"Key of the question that the file answers" example:"cv"`
	Upload string `query:"upload" maxLength:"64" doc:"Name of the upload"`
}

func (in pendingUploadInput) name() file.UploadName {
	return file.UploadName{FormID: in.ID, Field: in.Field, Name: in.Upload}
}

// PendingUpload is an upload whose connection was lost.
type PendingUpload struct {
	Offset int64 `json:"offset" doc:"How many bytes were received" example:"1048576"`
}

// readUpload says where to continue an upload.
func (a *API) readUpload() *operation {
	op := &operation{
		Method: "GET", Path: uploadPath, ID: "readUpload", Tag: "Files", Status: 200, Open: true,
		Summary: "Get the offset of an upload",
		Description: "Returns how much of an upload was received before its connection was lost. The upload waits for 5 minutes, on one node. " +
			"If it is not found, send the whole file again.",
		Errors: []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		input:  reflect.TypeFor[pendingUploadInput](), output: reflect.TypeFor[PendingUpload](),
	}
	read := newInputReader(op.input, 0)
	op.serve = func(_ *API, w http.ResponseWriter, r *http.Request) error {
		var in pendingUploadInput
		if err := a.admitPart(w, r, read, reflect.ValueOf(&in).Elem()); err != nil {
			return err
		}
		offset, err := a.Files.UploadOffset(in.name())
		if err != nil {
			return err
		}
		w.Header()["Cache-Control"] = noStoreHeader
		writeJSON(w, op.Status, PendingUpload{offset})
		return nil
	}
	return op
}

// admitPart checks a request about an upload, and reads its parameters.
func (a *API) admitPart(w http.ResponseWriter, r *http.Request, read reader, in reflect.Value) error {
	if err := a.allowOrigin(w, r); err != nil {
		return err
	}
	if err := a.Respond.AdmitUpload(a.Address(r), w.Header()); err != nil {
		return err
	}
	return read(in, w, r)
}

type continuedUploadInput struct {
	pendingUploadInput
	Offset int64 `header:"Upload-Offset" minimum:"0" doc:"Where the body continues" example:"1048576"`
}

// continueUpload receives the rest of a file.
func (a *API) continueUpload() *operation {
	op := &operation{
		Method: "PATCH", Path: uploadPath, ID: "continueUpload", Tag: "Files", Status: 201, Open: true, binary: true,
		Summary:     "Continue an upload",
		Description: "Sends the bytes of a file from an offset on, which must be the one that is returned for the upload. The result is that of the upload.",
		Errors:      []fault.Code{fault.BadQuery, fault.BadRequest, fault.NotFoundInAccount, fault.Conflict, fault.FormNotOpen, fault.QuotaReached, fault.TooLarge, fault.Invalid},
		input:       reflect.TypeFor[continuedUploadInput](), output: reflect.TypeFor[UploadedFile](),
	}
	read := newInputReader(op.input, 0)
	op.serve = func(_ *API, w http.ResponseWriter, r *http.Request) error {
		var in continuedUploadInput
		err := a.admitPart(w, r, read, reflect.ValueOf(&in).Elem())
		var f form.File
		if err == nil {
			f, err = a.Files.ContinueUpload(in.name(), newPart(w, r), in.Offset)
		}
		return a.answerUpload(w, r, f, err)
	}
	return op
}
