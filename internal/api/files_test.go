package api_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"formulary/internal/api"
	"formulary/internal/blob/blobtest"
	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/store/storetest"
)

// forEachFileStorage runs a test with files in a folder on both engines, and in S3 on one of them:
// tests take turns.
func forEachFileStorage(t *testing.T, test func(t *testing.T, w *fixture), flags ...string) {
	t.Helper()
	forEachEngine(t, test, flags...)
	newStorage := storetest.SQLite
	if len(t.Name())%2 == 0 {
		newStorage = storetest.Postgres
	}
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		server := blobtest.StartS3(t)
		w := newFixture(t, newStorage(t), append(flagsOf(server), flags...)...)
		w.s3 = server
		test(t, w)
	})
}

// flagsOf returns the flags for files on an S3 server.
func flagsOf(server *blobtest.S3) []string {
	c := server.Config()
	return []string{"--files=" + c.URL, "--s3-key=" + c.Key, "--s3-secret=" + c.Secret}
}

// pdf is a small file that is recognized as PDF.
func pdf(text string) []byte { return []byte("%PDF-1.7\n" + text) }

const fileForm = `{"title": "Apply", "fields": [{"key": "name", "kind": "short_text", "label": "Name"},
	{"key": "cv", "kind": "file", "label": "CV", "accept": ["pdf"], "max_files": 2, "max_size_mb": 1},
	{"key": "other", "kind": "file", "label": "Other"}]}`

// fileForm creates an open form with questions for files.
func (w *fixture) fileForm(token string) string {
	w.t.Helper()
	a := w.Call("POST", "/api/v1/forms", token, fileForm)
	if a.StatusCode != 201 {
		w.t.Fatalf("create: %d %s", a.StatusCode, a.Text)
	}
	id := a.String("id")
	if a := w.Call("POST", "/api/v1/forms/"+id+"/publish", token, ""); a.StatusCode != 201 {
		w.t.Fatalf("publish: %d %s", a.StatusCode, a.Text)
	}
	return id
}

// upload uploads a file and returns the answer.
func (w *fixture) upload(formID, field, name string, content []byte) clitest.Response {
	w.t.Helper()
	r, err := http.NewRequest("POST", w.URL+"/f/"+formID+"/files?field="+field, bytes.NewReader(content))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/pdf")
	r.Header.Set("Content-Disposition", "attachment; filename*=UTF-8''"+name)
	return w.Do(r)
}

func (w *fixture) mustUpload(formID, field, name string, content []byte) string {
	w.t.Helper()
	a := w.upload(formID, field, name, content)
	if a.StatusCode != 201 {
		w.t.Fatalf("upload: %d %s", a.StatusCode, a.Text)
	}
	return a.String("id")
}

// submit submits answers and returns the ID of the response.
func (w *fixture) submitFile(formID, answers string) string {
	w.t.Helper()
	a := w.Call("POST", "/f/"+formID, "", `{"answers": `+answers+`}`)
	if a.StatusCode != 201 {
		w.t.Fatalf("submit: %d %s", a.StatusCode, a.Text)
	}
	return a.String("id")
}

// fetch downloads without validation against the API document, which has no bytes in it.
func (w *fixture) fetch(address, token string, header ...string) (*http.Response, []byte) {
	w.t.Helper()
	r, err := http.NewRequest("GET", address, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res, body
}

func TestFileFromUploadToDownload(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		content := pdf(strings.Repeat("curriculum vitae ", 1000))
		a := w.upload(form, "cv", "L%C3%A9a%2F..%2Fcv.pdf", content)
		w.expectStatus("upload", a, 201)
		w.expectFields("upload", a, map[string]any{"name": "cv.pdf", "size": float64(len(content)), "type": "application/pdf"})
		id := a.String("id")
		response := w.submitFile(form, `{"name": "Léa", "cv": ["`+id+`"]}`)
		url := w.URL + "/api/v1/forms/" + form + "/files/" + id
		want := []any{map[string]any{"id": id, "name": "cv.pdf", "size": float64(len(content)), "type": "application/pdf", "url": url}}
		for _, path := range []string{"/responses", "/responses?after=", "/responses/" + response} {
			a := w.Call("GET", "/api/v1/forms/"+form+path, w.ada, "")
			if list, ok := a.Body["data"].([]any); ok {
				a.Body = list[0].(map[string]any)
			}
			w.expectEqual(path, a.Body["answers"], map[string]any{"name": "Léa", "cv": want})
		}

		res, got := w.fetch(url, w.ada)
		if res.StatusCode != 200 || !bytes.Equal(got, content) {
			t.Errorf("download: %d, %d bytes", res.StatusCode, len(got))
		}
		for field, part := range map[string]string{
			"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox",
			"Content-Type": "application/pdf", "ETag": fmt.Sprintf("%x", sha256.Sum256(content)), "Accept-Ranges": "bytes",
		} {
			w.expectHeader("download", res.Header, field, part)
		}
		if res, got := w.fetch(url, w.ada, "Range", "bytes=5-14"); res.StatusCode != 206 || !bytes.Equal(got, content[5:15]) {
			t.Errorf("range: %d %q", res.StatusCode, got)
		}
		if res, _ := w.fetch(url, w.ada, "Range", "bytes=999999-"); res.StatusCode != 416 {
			t.Errorf("range after the end: %d", res.StatusCode)
		}
		if res, got := w.fetch(url, w.ada, "Range", "pages=1-2"); res.StatusCode != 200 || !bytes.Equal(got, content) {
			t.Errorf("range in another unit: %d, %d bytes", res.StatusCode, len(got))
		}
		if res, _ := w.fetch(url, w.ada, "If-None-Match", res.Header.Get("ETag")); res.StatusCode != 304 {
			t.Errorf("unchanged: %d", res.StatusCode)
		}
		for name, c := range map[string]struct {
			path, token string
			code        int
		}{
			"stranger":      {"/api/v1/forms/" + form + "/files/" + id, w.bob, 404002},
			"no token":      {"/api/v1/forms/" + form + "/files/" + id, "", 401003},
			"no scope":      {"/api/v1/forms/" + form + "/files/" + id, w.Token(ada, w.app, "forms:read").Access, 403001},
			"unknown file":  {"/api/v1/forms/" + form + "/files/fil_01k9z8m7q3e4r5t6y7v8w9x0a1", w.ada, 404002},
			"no file ID":    {"/api/v1/forms/" + form + "/files/x", w.ada, 404002},
			"not a picture": {"/pictures/" + id, "", 404002},
		} {
			w.expectCode(name, w.Call("GET", c.path, c.token, ""), c.code)
		}
	})
}

// Live streams have the addresses of files too.
func TestFileInLiveEvent(t *testing.T) {
	const file = "fil_01kgd4rh5vf69b91fnpw8qc2zt"
	r := form.Response{ID: "rsp_1", FormID: "frm_1", JSON: `{"cv":[{"id":"` + file + `","name":"a","size":1,"type":"x"}]}`, Metadata: "{}"}
	event := string(api.EventEncoder("https://forms.example.com")("rsp_1", r))
	if want := `"url":"https://forms.example.com/api/v1/forms/frm_1/files/` + file + `"`; !strings.Contains(event, want) {
		t.Errorf("%s is not in %s", want, event)
	}
}
