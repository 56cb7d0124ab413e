package media_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"formulary/internal/media"
)

// zipOf returns an archive with files of these names.
func zipOf(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		name, content, _ := strings.Cut(name, "=")
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// zipOfType returns a document whose first file says what it is.
func zipOfType(mime string) string {
	head := "PK\x03\x04" + strings.Repeat("\x00", 22) + "\x08\x00\x00\x00"
	return head + "mimetype" + mime + strings.Repeat(" ", 100)
}

func TestDetect(t *testing.T) {
	t.Parallel()
	var gzipped bytes.Buffer
	w := gzip.NewWriter(&gzipped)
	w.Write([]byte("text"))
	w.Close()
	ole := "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600)
	for _, c := range []struct{ name, head, mime, group string }{
		{"jpeg", "\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg", "image"},
		{"png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png", "image"},
		{"gif", "GIF89a\x01\x00\x01\x00", "image/gif", "image"},
		{"webp", "RIFF\x1a\x00\x00\x00WEBPVP8L", "image/webp", "image"},
		{"heic", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00", "image/heic", "image"},
		{"pdf", "%PDF-1.7\n%\xe2\xe3", "application/pdf", "pdf"},
		{"text", "Dear sir or madam,\n\nhello.", "text/plain", "document"},
		{"rtf", `{\rtf1\ansi hello}`, "text/rtf", "document"},
		{"docx", zipOf(t, "[Content_Types].xml=<xml/>", "_rels/.rels=x", "word/document.xml=x"), "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "document"},
		{"odt", zipOfType("application/vnd.oasis.opendocument.text"), "application/vnd.oasis.opendocument.text", "document"},
		{"doc", ole, "application/x-ole-storage", "document"},
		{"csv", "name,age\nA,1\nB,2\n", "text/csv", "spreadsheet"},
		{"xlsx", zipOf(t, "[Content_Types].xml=<xml/>", "_rels/.rels=x", "xl/workbook.xml=x"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "spreadsheet"},
		{"ods", zipOfType("application/vnd.oasis.opendocument.spreadsheet"), "application/vnd.oasis.opendocument.spreadsheet", "spreadsheet"},
		{"pptx", zipOf(t, "[Content_Types].xml=<xml/>", "_rels/.rels=x", "ppt/presentation.xml=x"), "application/vnd.openxmlformats-officedocument.presentationml.presentation", "presentation"},
		{"mp3", "\xff\xfb\x90\x64\x00\x00", "audio/mpeg", "audio"},
		{"mp3 with a title", "ID3\x03\x00\x00\x00\x00\x02\x01TIT2\x00\x00\x00\x05\x00\x00\x00Song", "audio/mpeg", "audio"},
		{"wav", "RIFF\x24\x00\x00\x00WAVEfmt ", "audio/wav", "audio"},
		{"mp4", "\x00\x00\x00\x18ftypisom\x00\x00\x02\x00", "video/mp4", "video"},
		{"webm", "\x1a\x45\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1f\x42\x86\x81\x01\x42\x82\x84webm", "video/webm", "video"},
		{"zip", zipOf(t, "a.txt=hello"), "application/zip", "archive"},
		{"gzip", gzipped.String(), "application/gzip", "archive"},

		{"nothing", "", "application/octet-stream", ""},
		{"noise", "\x00\x01\x02\x03\x04\xfe\xff", "application/octet-stream", ""},
		{"svg", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "image/svg+xml", ""},
		{"svg after a comment", `<?xml version="1.0"?><!-- x --><svg xmlns="http://www.w3.org/2000/svg"/>`, "image/svg+xml", ""},
		{"html", "<!DOCTYPE html><script>alert(1)</script>", "text/html", ""},
		{"html after spaces", "\n\n  <html><body onload=alert(1)>", "text/html", ""},
		{"javascript", "#!/usr/bin/env node\nalert(1)", "text/javascript", ""},
		{"shell", "#!/bin/sh\nrm -rf /", "text/x-shellscript", ""},
		{"php", "<?php echo 1;", "text/x-php", ""},
		{"html that claims to be a PDF", "<!DOCTYPE html><script>alert(1)</script>%PDF-1.7", "application/octet-stream", ""},
		{"picture that claims to be a PDF", "\xff\xd8\xff\xe0\x00\x10JFIF %PDF-1.7", "application/octet-stream", ""},
		{"noise with music", "\x00\x01\x02\x03" + strings.Repeat("\xff\xfb\x90\x64"+strings.Repeat("\x00", 413), 4), "application/octet-stream", ""},
		{"exe", "MZ\x90\x00\x03\x00\x00\x00", "application/vnd.microsoft.portable-executable", ""},
		{"elf", "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 60), "application/x-elf", ""},
		{"jar", zipOf(t, "META-INF/MANIFEST.MF=x"), "application/java-archive", ""},
	} {
		if got := media.Detect([]byte(c.head)); got != (media.Type{MIME: c.mime, Group: c.group}) {
			t.Errorf("%s: %+v, not %s in %q", c.name, got, c.mime, c.group)
		}
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	typeOf := func(head string) media.Type { return media.Detect([]byte(head)) }
	png, text, svg := typeOf("\x89PNG\r\n\x1a\n"), typeOf("a;b\n1;2\n"), typeOf("<svg xmlns='http://www.w3.org/2000/svg'/>")
	old := typeOf("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600))
	recording := typeOf("\x1a\x45\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1f\x42\x86\x81\x01\x42\x82\x84webm")
	for _, c := range []struct {
		name   string
		groups []string
		t      media.Type
		want   bool
	}{
		{"a picture", []string{"image"}, png, true},
		{"a picture, everything", nil, png, true},
		{"a picture for a PDF", []string{"pdf"}, png, false},
		{"a picture, one of two", []string{"pdf", "image"}, png, true},
		{"a table with semicolons", []string{"spreadsheet"}, text, true},
		{"a table with semicolons as text", []string{"document"}, text, true},
		{"a table as a picture", []string{"image"}, text, false},
		{"an old table", []string{"spreadsheet"}, old, true},
		{"an old picture", []string{"image"}, old, false},
		{"a recording", []string{"audio"}, recording, true},
		{"a drawing with scripts", []string{"image"}, svg, false},
		{"a drawing with scripts, everything", nil, svg, false},
		{"nothing", media.Groups, media.Detect(nil), false},
	} {
		if got := media.Accepts(c.groups, c.t); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
