package api_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

const uploadName = "abcdefghijklmnopqrstuv"

// beginUpload sends the first bytes of an upload, and returns its connection.
func (w *fixture) beginUpload(form, name string, content []byte, n int) net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(w.Local, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	_, err = fmt.Fprintf(c, "POST /f/%s/files?field=cv&upload=%s HTTP/1.1\r\nHost: localhost\r\nContent-Disposition: attachment; filename=cv.pdf\r\nContent-Length: %d\r\n\r\n%s",
		form, name, len(content), content[:n])
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *fixture) continueUpload(form, name string, rest []byte, offset int) clitest.Response {
	w.t.Helper()
	r, err := http.NewRequest("PATCH", w.URL+"/f/"+form+"/files?field=cv&upload="+name, bytes.NewReader(rest))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Upload-Offset", fmt.Sprint(offset))
	return w.Do(r)
}

// waitOffset waits until so much of an upload was received that the rest cannot be on its way.
func (w *fixture) waitOffset(form, name string, want int) {
	w.t.Helper()
	var a clitest.Response
	if !clitest.WaitFor(func() bool {
		a = w.Call("GET", "/f/"+form+"/files?field=cv&upload="+name, "", "")
		return a.Body["offset"] == float64(want)
	}) {
		w.t.Fatalf("the offset is %s, want %d", a.Text, want)
	}
}

// After a lost connection an upload continues where it stopped, and the file is the one that was
// sent.
func TestUploadContinues(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		content := pdf(strings.Repeat("continued ", 60_000))
		half, more := len(content)/2, len(content)*3/4

		// Closed by the client, then cut again.
		c := w.beginUpload(form, uploadName, content, half)
		c.(*net.TCPConn).CloseWrite()
		if text, err := io.ReadAll(c); err != nil || !bytes.Contains(text, []byte("400003")) {
			t.Errorf("the part: %s (%v)", text, err)
		}
		w.waitOffset(form, uploadName, half)
		w.expectObjects("half", w.partsInFolder())
		w.expectCode("the same name", w.Do(w.named(form, uploadName, content)), 409001)
		w.expectCode("wrong offset", w.continueUpload(form, uploadName, content[half+1:], half+1), 409001)
		w.expectCode("another name", w.continueUpload(form, uploadName+"x", content[half:], half), 404002)
		w.expectCode("a part", w.continueUpload(form, uploadName, content[half:more], half), 400003)
		w.waitOffset(form, uploadName, more)
		a := w.continueUpload(form, uploadName, content[more:], more)
		w.expectStatus("the rest", a, 201)
		w.expectFields("the rest", a, map[string]any{"name": "cv.pdf", "size": float64(len(content)), "type": "application/pdf"})
		// The answer was lost: the client asks again.
		w.waitOffset(form, uploadName, len(content))
		if again := w.continueUpload(form, uploadName, nil, len(content)); again.String("id") != a.String("id") {
			t.Errorf("asked again: %s, want %s", again.Text, a.Text)
		}
		w.submitFile(form, `{"cv": ["`+a.String("id")+`"]}`)
		if res, got := w.fetch(w.URL+"/api/v1/forms/"+form+"/files/"+a.String("id"), w.ada); res.StatusCode != 200 || !bytes.Equal(got, content) {
			t.Errorf("download: %d, %d bytes", res.StatusCode, len(got))
		}

		// A connection that is lost without notice gives way to the next one.
		w.beginUpload(form, uploadName+"2", content, half)
		if !clitest.WaitFor(func() bool {
			a = w.Call("GET", "/f/"+form+"/files?field=cv&upload="+uploadName+"2", "", "")
			return a.StatusCode == 200
		}) {
			t.Fatalf("the upload does not start: %s", a.Text)
		}
		offset := int(a.Body["offset"].(float64))
		w.expectStatus("instead of another connection", w.continueUpload(form, uploadName+"2", content[offset:], offset), 201)
		w.expectObjects("at the end", 2)
	}, "--rate-per-respondent=100000")
}

// partsInFolder returns how many files an upload has that is not complete.
func (w *fixture) partsInFolder() int {
	if w.s3 != nil {
		return 0
	}
	return 1
}

// named returns an upload that can be continued.
func (w *fixture) named(form, name string, content []byte) *http.Request {
	w.t.Helper()
	r, err := http.NewRequest("POST", w.URL+"/f/"+form+"/files?field=cv&upload="+name, bytes.NewReader(content))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// Uploads that can be continued have the limits of others.
func TestNamedUploadLimits(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		w.expectCode("short name", w.Do(w.named(form, "short", pdf("a"))), 400001)
		w.expectCode("too large", w.Do(w.named(form, uploadName+"1", pdf(strings.Repeat("x", 1<<20)))), 413001)
		w.expectCode("wrong type", w.Do(w.named(form, uploadName+"2", []byte("<html><body>"))), 422001)
		w.expectStatus("after a refusal", w.Do(w.named(form, uploadName+"2", pdf("a"))), 201)
		w.expectCode("unknown", w.Call("GET", "/f/"+form+"/files?field=cv&upload="+uploadName+"3", "", ""), 404002)
		// One client cannot make many uploads wait.
		for n := range 20 {
			w.beginUpload(form, fmt.Sprintf("%s-%d", uploadName, n), pdf(strings.Repeat("x", 1000)), 500).Close()
		}
		isBounded := func() bool {
			waiting := 0
			for n := range 20 {
				if a := w.Call("GET", fmt.Sprintf("/f/%s/files?field=cv&upload=%s-%d", form, uploadName, n), "", ""); a.StatusCode == 200 {
					waiting++
				}
			}
			return waiting == 16
		}
		if !clitest.WaitFor(isBounded) {
			t.Error("the number of waiting uploads is not bounded")
		}
	}, "--rate-per-respondent=100000")
}

// A process that ends does not wait for uploads without a connection, and keeps nothing of them.
func TestStopWithPendingUploads(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		w.beginUpload(form, uploadName, pdf(strings.Repeat("x", 100_000)), 50_000).Close()
		if !clitest.WaitFor(func() bool { return w.objects() == 1 }) {
			t.Error("nothing of the upload is stored")
		}
		w.Stop()
		w.expectObjects("after the end", 0)
	}, "--rate-limit=off")
}
