package api_test

import (
	"archive/zip"
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
)

// unzip returns the content of a zip file by name.
func unzip(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range files.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found[f.Name] = string(text)
	}
	return found
}

func TestFilesInExports(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		a, b := w.mustUpload(form, "cv", "cv.pdf", pdf("a")), w.mustUpload(form, "cv", "cv.pdf", pdf("b"))
		note := w.mustUpload(form, "other", "note.txt", []byte("a note"))
		first := w.submitFile(form, `{"name": "Ada", "cv": ["`+a+`", "`+b+`"]}`)
		second := w.submitFile(form, `{"name": "Bob", "other": ["`+note+`"]}`)
		w.submitFile(form, `{"name": "Cleo"}`)
		base := w.URL + "/api/v1/forms/" + form
		export := func(format string) []byte {
			res, body := w.fetch(base+"/responses/export?header=keys&format="+format, w.ada)
			if res.StatusCode != 200 {
				t.Fatalf("%s: %d %s", format, res.StatusCode, body)
			}
			return body
		}
		csv := string(export("csv"))
		for _, want := range []string{"name,cv,cv.url,other,other.url", `Ada,"cv.pdf; cv.pdf","` + base + "/files/" + a + "; " + base + "/files/" + b + `",,`, "Bob,,,note.txt," + base + "/files/" + note} {
			if !strings.Contains(csv, want) {
				t.Errorf("%q is not in\n%s", want, csv)
			}
		}
		if lines := string(export("jsonl")); !strings.Contains(lines, `"url":"`+base+`/files/`+note+`"`) {
			t.Errorf("no address in\n%s", lines)
		}
		got := unzip(t, export("zip"))
		folder := "files/" + first + "/cv/"
		if table := got["responses.csv"]; !strings.Contains(table, folder+"cv.pdf; "+folder+"cv (2).pdf") {
			t.Errorf("no paths in\n%s", table)
		}
		delete(got, "responses.csv")
		want := map[string]string{
			folder + "cv.pdf": string(pdf("a")), folder + "cv (2).pdf": string(pdf("b")), "files/" + second + "/other/note.txt": "a note",
		}
		w.expectEqual("archive", got, want)
		_, body := w.fetch(base+"/responses/"+second+"/files", w.ada)
		w.expectEqual("archive of a response", unzip(t, body), map[string]string{"files/" + second + "/other/note.txt": "a note"})
		w.expectCode("stranger", w.Call("GET", "/api/v1/forms/"+form+"/responses/"+second+"/files", w.bob, ""), 404002)
		a2 := w.Call("GET", "/api/v1/forms/"+form+"/summary", w.ada, "")
		if !strings.Contains(a2.Text, `"files":2`) || !strings.Contains(a2.Text, `"bytes":20`) {
			t.Errorf("summary: %s", a2.Text)
		}
	})
}

func TestPictures(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		var source bytes.Buffer
		picture := image.NewRGBA(image.Rect(0, 0, 30, 20))
		picture.Set(3, 4, color.RGBA{200, 10, 10, 255})
		if err := png.Encode(&source, picture); err != nil {
			t.Fatal(err)
		}
		send := func(token string, body []byte) *http.Request {
			r, err := http.NewRequest("POST", w.URL+"/api/v1/files", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Disposition", `attachment; filename="logo.png"`)
			return r
		}
		a := w.Do(send(w.ada, source.Bytes()))
		w.expectStatus("upload", a, 201)
		w.expectFields("upload", a, map[string]any{"name": "logo.png", "type": "image/png", "width": 30.0, "height": 20.0, "url": w.URL + "/pictures/" + a.String("id")})
		res, body := w.fetch(a.String("url"), "")
		shown, err := png.Decode(bytes.NewReader(body))
		if err != nil || res.StatusCode != 200 || shown.Bounds() != picture.Bounds() {
			t.Errorf("shown: %d %v", res.StatusCode, err)
		}
		w.expectHeader("shown", res.Header, "Cache-Control", "immutable")
		w.expectHeader("shown", res.Header, "Content-Type", "image/png")
		w.expectHeader("shown", res.Header, "X-Content-Type-Options", "nosniff")
		for name, c := range map[string]struct {
			token string
			body  []byte
			code  int
		}{
			"no picture":  {w.ada, pdf("a"), 422001},
			"truncated":   {w.ada, source.Bytes()[:50], 422001},
			"empty":       {w.ada, nil, 422001},
			"no token":    {"x", source.Bytes(), 401001},
			"wrong scope": {w.Token(ada, w.app, "forms:read").Access, source.Bytes(), 403001},
			"too large":   {w.ada, make([]byte, 11<<20), 413001},
		} {
			w.expectCode(name, w.Do(send(c.token, c.body)), c.code)
		}
		w.expectObjects("stored", 1)
		w.expectCode("unknown", w.Call("GET", "/pictures/fil_01k9z8m7q3e4r5t6y7v8w9x0a1", "", ""), 404002)
		w.deleteAda()
		w.expectObjects("after the account was deleted", 0)
	})
}
