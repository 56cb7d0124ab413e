package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// unsized hides the length of a reader, so that the body is sent in chunks.
type unsized struct{ io.Reader }

func TestUploadLimits(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		large := pdf(strings.Repeat("x", 1<<20))
		for name, c := range map[string]struct {
			field   string
			content []byte
			code    int
		}{
			"the largest":          {"cv", large[:1<<20], 0},
			"one byte more":        {"cv", large[:1<<20+1], 413001},
			"above the server's":   {"other", pdf(strings.Repeat("x", 3<<20)), 413001},
			"nothing":              {"cv", nil, 422001},
			"one byte":             {"cv", []byte{0}, 422001},
			"a page":               {"other", []byte("<!DOCTYPE html><script>alert(1)</script>"), 422001},
			"a drawing":            {"other", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`), 422001},
			"a script":             {"other", []byte("#!/bin/sh\nrm -rf /\n"), 422001},
			"a program":            {"other", append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 100)...), 422001},
			"not accepted here":    {"cv", []byte("just text"), 422001},
			"accepted elsewhere":   {"other", []byte("just text"), 0},
			"no question":          {"", pdf("a"), 422001},
			"unknown question":     {"nope", pdf("a"), 422001},
			"question for no file": {"name", pdf("a"), 422001},
		} {
			for kind, body := range map[string]io.Reader{"sized": bytes.NewReader(c.content), "unsized": unsized{bytes.NewReader(c.content)}} {
				r, err := http.NewRequest("POST", w.URL+"/f/"+form+"/files?field="+c.field, body)
				if err != nil {
					t.Fatal(err)
				}
				a := w.Do(r)
				w.expectCode(name+" "+kind, a, c.code)
				if c.code == 422001 && !strings.Contains(a.Text, `"field":"`+c.field+`"`) {
					t.Errorf("%s does not name the field: %s", name, a.Text)
				}
			}
		}
		w.expectObjects("accepted files", 4)
		w.expectCode("unknown form", w.upload("frm_01k9z8m7q3e4r5t6y7v8w9x0a1", "cv", "a.pdf", pdf("a")), 404002)
		w.Call("POST", "/api/v1/forms/"+form+"/close", w.ada, "")
		w.expectCode("closed form", w.upload(form, "cv", "a.pdf", pdf("a")), 409003)
		w.expectObjects("accepted files", 4)
	}, "--file-limit=2MiB")
}

func TestUploadsCountAsStorage(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		content := pdf(strings.Repeat("x", 700_000))
		w.submitFile(form, `{"cv": ["`+w.mustUpload(form, "cv", "a.pdf", content)+`"]}`)
		w.expectCode("full", w.upload(form, "cv", "b.pdf", content), 409004)
		w.expectObjects("full", 1)
		// A small one fits, and its submission is not counted a second time.
		w.submitFile(form, `{"cv": ["`+w.mustUpload(form, "cv", "c.pdf", content[:150_000])+`"]}`)
		w.expectCode("full", w.upload(form, "cv", "b.pdf", content[:200_000]), 409004)
	}, "--storage-limit=1MB")
}

func TestFileNames(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		for _, c := range []struct{ sent, want string }{
			{"attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf", "résumé.pdf"},
			{`attachment; filename="../../etc/passwd"`, "passwd"},
			{`attachment; filename*=UTF-8''a%0D%0AX-Evil%3A1%00.pdf`, ""},
			{`attachment; filename*=UTF-8''%E2%80%AEfdp.exe`, "fdp.exe"},
			{"attachment; filename*=UTF-8''" + url.PathEscape(strings.Repeat("é", 300)) + ".pdf", ""},
			{"attachment; filename*=UTF-8''%FF%FE", ""},
			{"", "file"}, {"attachment", "file"}, {";;;", "file"}, {`attachment; filename=".."`, "file"},
		} {
			r, err := http.NewRequest("POST", w.URL+"/f/"+form+"/files?field=cv", bytes.NewReader(pdf("a")))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Disposition", c.sent)
			a := w.Do(r)
			got := a.String("name")
			isClean := got != "" && len(got) <= 255 && utf8.ValidString(got) && !strings.ContainsAny(got, "/\\\r\n\x00\u202e")
			if a.StatusCode != 201 || !isClean || c.want != "" && got != c.want {
				t.Errorf("%q: %d %q, want %q", c.sent, a.StatusCode, got, c.want)
			}
		}
	})
}

// A client that reads only after it has sent everything can still read why its file was
// refused.
func TestRefusalCanBeRead(t *testing.T) {
	forEachFileStorage(t, func(t *testing.T, w *fixture) {
		form := w.fileForm(w.ada)
		const size = 30 << 20
		for _, encoding := range []string{fmt.Sprintf("Content-Length: %d", size), "Transfer-Encoding: chunked"} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.Local, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST /f/%s/files?field=cv HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", form, encoding)
			chunk := pdf(strings.Repeat("x", 1<<20))[:1<<20]
			for range size / len(chunk) {
				if strings.HasPrefix(encoding, "T") {
					_, err = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(chunk), chunk)
				} else {
					_, err = conn.Write(chunk)
				}
				if err != nil {
					t.Fatalf("%s: cannot send everything: %v", encoding, err)
				}
			}
			if strings.HasPrefix(encoding, "T") {
				io.WriteString(conn, "0\r\n\r\n")
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("%s: no answer: %v", encoding, err)
			}
			text, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != 413 || !strings.Contains(string(text), "413001") {
				t.Errorf("%s: %d %s (%v)", encoding, res.StatusCode, text, err)
			}
		}
		w.expectObjects("refused", 0)
	})
}
