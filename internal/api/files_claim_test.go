package api_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"formulary/internal/blob/blobtest"
)

// objects counts the files in the storage.
func (w *fixture) objects() int {
	w.t.Helper()
	if w.s3 != nil {
		return len(w.s3.Files())
	}
	return len(blobtest.Files(w.t, filepath.Join(w.Storage.Data, "files")))
}

func (w *fixture) expectObjects(name string, want int) {
	w.t.Helper()
	if got := w.objects(); got != want {
		w.t.Errorf("%s: %d objects are stored, want %d", name, got, want)
	}
}

// deleteAda deletes a user with the command, which needs access to the files.
func (w *fixture) deleteAda() {
	w.t.Helper()
	command := []string{"user", "delete", ada, "--yes"}
	if w.s3 != nil {
		command = append(command, flagsOf(w.s3)...)
	}
	if out := w.Command("", command...); !strings.Contains(out, ada) {
		w.t.Error(out)
	}
}

func TestFileIsClaimedOnce(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form, other := w.fileForm(w.ada), w.fileForm(w.ada)
		file := w.mustUpload(form, "cv", "cv.pdf", pdf("a"))
		elsewhere := w.mustUpload(other, "cv", "cv.pdf", pdf("a"))
		for name, answers := range map[string]string{
			"unknown":                 `{"cv": ["fil_01k9z8m7q3e4r5t6y7v8w9x0a1"]}`,
			"of another question":     `{"other": ["` + file + `"]}`,
			"of another form":         `{"cv": ["` + elsewhere + `"]}`,
			"in two answers":          `{"cv": ["` + file + `"], "other": ["` + file + `"]}`,
			"one of two is not there": `{"cv": ["` + file + `", "fil_01k9z8m7q3e4r5t6y7v8w9x0a1"]}`,
			"not an ID":               `{"cv": ["cv.pdf"]}`,
			"not a list":              `{"cv": "` + file + `"}`,
		} {
			w.expectCode(name, w.Call("POST", "/f/"+form, "", `{"answers": `+answers+`}`), 422001)
		}
		// Nothing of that has claimed it. Of many submissions at once, one gets it.
		var running sync.WaitGroup
		codes := make([]int, 8)
		for i := range codes {
			running.Go(func() {
				codes[i] = w.Call("POST", "/f/"+form, "", `{"answers": {"cv": ["`+file+`"]}}`).Code()
			})
		}
		running.Wait()
		accepted := 0
		for _, code := range codes {
			switch code {
			case 0:
				accepted++
			case 422001:
			default:
				t.Errorf("a submission got %d", code)
			}
		}
		if accepted != 1 {
			t.Errorf("%d submissions got the file", accepted)
		}
		a := w.Call("GET", "/api/v1/forms/"+form+"/responses", w.ada, "")
		w.expectFields("responses", a, map[string]any{"total_items": 1.0})
	})
}

func TestFileOfRepeatedSubmission(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		file := w.mustUpload(form, "cv", "cv.pdf", pdf("a"))
		submit := func(name, body string) string {
			a := w.Call("POST", "/f/"+form, "", body, "Idempotency-Key: once")
			w.expectStatus(name, a, 201)
			return a.String("id")
		}
		body := `{"answers": {"cv": ["` + file + `"]}}`
		if first, again := submit("first", body), submit("again", body); first != again {
			t.Errorf("repeated submission: %s, first %s", again, first)
		}
		w.expectCode("another body", w.Call("POST", "/f/"+form, "", `{"answers": {}}`, "Idempotency-Key: once"), 409002)
		w.expectCode("another key", w.Call("POST", "/f/"+form, "", body, "Idempotency-Key: twice"), 422001)
	})
}

func TestFilesOfChangedResponse(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		first, second, third := w.mustUpload(form, "cv", "1.pdf", pdf("1")), w.mustUpload(form, "cv", "2.pdf", pdf("2")), w.mustUpload(form, "cv", "3.pdf", pdf("3"))
		path := "/api/v1/forms/" + form + "/responses/" + w.submitFile(form, `{"cv": ["`+first+`", "`+second+`"]}`)
		names := func(name string, want ...any) {
			t.Helper()
			var got []any
			list, _ := w.Call("GET", path, w.ada, "").Body["answers"].(map[string]any)["cv"].([]any)
			for _, f := range list {
				got = append(got, f.(map[string]any)["name"])
			}
			w.expectEqual(name, got, want)
		}
		change := func(name, answers string) {
			t.Helper()
			w.expectStatus(name, w.Call("PATCH", path, w.ada, `{"answers": `+answers+`}`), 200)
		}
		change("another answer", `{"name": "Ada"}`)
		names("files stay", "1.pdf", "2.pdf")
		change("replace one", `{"cv": ["`+third+`", "`+first+`"]}`)
		names("replaced", "3.pdf", "1.pdf")
		w.expectObjects("replaced", 2)
		w.expectCode("dropped file", w.Call("PATCH", path, w.ada, `{"answers": {"cv": ["`+second+`"]}}`), 422001)
		taken := w.mustUpload(form, "cv", "4.pdf", pdf("4"))
		w.submitFile(form, `{"cv": ["`+taken+`"]}`)
		w.expectCode("file of another response", w.Call("PATCH", path, w.ada, `{"answers": {"cv": ["`+taken+`"]}}`), 422001)
		names("unchanged", "3.pdf", "1.pdf")
		// A file as the API returned it.
		change("objects", `{"cv": [{"id": "`+first+`", "name": "forged.exe", "size": 1, "type": "x", "url": "https://example.com"}]}`)
		names("as stored", "1.pdf")
		change("remove", `{"cv": null}`)
		names("removed")
		w.expectObjects("removed", 1)
	})
}

func TestDeletingRemovesFiles(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		add := func() string {
			a, b := w.mustUpload(form, "cv", "a.pdf", pdf("a")), w.mustUpload(form, "cv", "b.pdf", pdf("b"))
			return w.submitFile(form, `{"cv": ["`+a+`", "`+b+`"]}`)
		}
		one := add()
		add()
		add()
		w.expectObjects("stored", 6)
		w.expectStatus("delete one", w.Call("DELETE", "/api/v1/forms/"+form+"/responses/"+one, w.ada, ""), 204)
		w.expectObjects("one deleted", 4)
		w.expectStatus("delete all", w.Call("DELETE", "/api/v1/forms/"+form+"/responses?all=true", w.ada, ""), 200)
		w.expectObjects("all deleted", 0)
		add()
		w.mustUpload(form, "cv", "unclaimed.pdf", pdf("c"))
		bobs := w.fileForm(w.bob)
		w.submitFile(bobs, `{"cv": ["`+w.mustUpload(bobs, "cv", "bob.pdf", pdf("d"))+`"]}`)
		w.expectObjects("of two users", 4)
		w.deleteAda()
		w.expectObjects("of the other user", 1)
	})
}
