package web_test

import (
	"archive/zip"
	"bytes"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// application has files on the first page and a signature on the second.
const application = `{"title": "Application", "fields": [
	{"key": "name", "kind": "short_text", "label": "Your name?", "required": true},
	{"key": "cv", "kind": "file", "label": "Your CV?", "accept": ["pdf", "image"], "max_files": 2, "max_size_mb": 1, "required": true},
	{"key": "p2", "kind": "page_break", "label": "For {{cv}}"},
	{"key": "sign", "kind": "signature", "label": "Sign", "required": true}]}`

const pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

func pngOf(t *testing.T, width, height int) string {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		picture.Set(x, x%height, color.RGBA{200, 30, 30, 255})
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// part is a control of a form: a value, or a file if it has a name.
type part struct{ control, file, content string }

// sendParts clicks a button of a page with files, without JavaScript.
func (r *respondent) sendParts(press string, fill ...part) {
	r.t.Helper()
	if !strings.Contains(r.page.Text, `enctype="multipart/form-data"`) {
		r.t.Fatalf("the page is not multipart\n%s", r.page.Text)
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, m := range hiddenField.FindAllStringSubmatch(r.page.Text, -1) {
		w.WriteField(html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	for _, p := range fill {
		if p.file == "" && p.content == "" {
			w.CreateFormFile(p.control, "") // a file input without a file
		} else if p.file == "" {
			w.WriteField(p.control, p.content)
		} else if to, err := w.CreateFormFile(p.control, p.file); err != nil {
			r.t.Fatal(err)
		} else {
			io.WriteString(to, p.content)
		}
	}
	w.WriteField("_action", press)
	w.Close()
	r.page = r.b.PostBody(r.path, w.FormDataContentType(), &body)
}

var storedID = regexp.MustCompile(`name="cv" value="(fil_[0-9a-z]{26})`)

// Files are uploaded without JavaScript, and stay when something else is wrong, on later
// pages and after going back.
func TestFilesWithoutScript(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, application)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		r.sees(200, "Up to 2 files, 1 MB each: PDF, images.", `type="file" name="cv" accept=".pdf,image/*" multiple`, "kind-file.css", "kind-file.js", "!kind-signature")

		// The name is missing; the file is kept.
		r.sendParts("next", part{control: "cv", file: "a & b.pdf", content: pdf})
		r.sees(422, "problem-name", "!problem-cv", "<bdi>a &amp; b.pdf</bdi>", "1 KB", "Remove a &amp; b.pdf")
		first := storedID.FindStringSubmatch(r.page.Text)
		if first == nil {
			t.Fatal("the page has no ID of the file")
		}
		// A file of another type and one that is too large are refused, each with its reason.
		r.sendParts("next", part{control: "name", content: "Ada"}, part{control: "cv", file: "page.html", content: "<html><script>alert(1)</script></html>"})
		r.sees(422, "This type of file is not accepted.", "a &amp; b.pdf", `value="Ada"`, "!page.html")
		r.sendParts("next", part{control: "name", content: "Ada"}, part{control: "cv", file: "big.pdf", content: pdf + strings.Repeat("x", 1<<20)})
		r.sees(422, "This file is too large. The limit is 1 MB.", "a &amp; b.pdf")
		r.sendParts("next", part{control: "name", content: "Ada"}, part{control: "cv", file: "empty.pdf"})
		r.sees(422, "This file is empty.", "a &amp; b.pdf", "!empty.pdf")
		// A third file is one too many.
		picture := pngOf(t, 40, 30)
		r.sendParts("next", part{control: "name", content: "Ada"}, part{control: "cv", file: "p.png", content: picture}, part{control: "cv", file: "q.png", content: picture})
		r.sees(422, "Add no more than 2 files.", "p.png", "!q.png")
		// Removing one makes room.
		r.sendParts("next", part{control: "name", content: "Ada"}, part{control: "cv.remove", content: first[1]}, part{control: "cv", file: "c.pdf", content: pdf})
		r.sees(200, "For p.png, c.pdf", "kind-signature.js", "!kind-file", "Type your full name to sign")
		r.sendParts("back")
		r.sees(200, "p.png", "c.pdf", "!a &amp; b.pdf", `value="Ada"`)
		r.sendParts("next", part{control: "name", content: "Ada"}, part{control: "cv"})
		r.sees(200)
		r.sendParts("next")
		r.sees(422, "problem-sign")
		r.sendParts("next", part{control: "sign", content: "Ada Lovelace"})
		r.sees(303)

		list := s.Call("GET", "/api/v1/forms/"+id+"/responses?after=", token, "").Body["data"].([]any)
		answers := list[0].(map[string]any)["answers"].(map[string]any)
		files, _ := answers["cv"].([]any)
		if len(files) != 2 || answers["sign"] != "Ada Lovelace" {
			t.Fatalf("stored %v", answers)
		}
		equal(t, "the first file", files[0].(map[string]any), map[string]any{"name": "p.png", "size": float64(len(picture)), "type": "image/png"})

		checkOwnersPages(t, s, id, list[0].(map[string]any)["id"].(string), files[0].(map[string]any)["id"].(string), picture)
	})
}

// checkOwnersPages checks what the owner of a response with a picture sees.
func checkOwnersPages(t *testing.T, s *clitest.Service, form, response, file, content string) {
	t.Helper()
	b := s.Browser()
	b.SignIn(ada)
	base := "/forms/" + form
	address := base + "/files/" + file
	has(t, b.Get(base+"/responses"), address+"/thumbnail", "p.png; c.pdf", "format=zip")
	has(t, b.Get(base+"/responses/"+response), address+`/thumbnail`, `href="`+address+`" download`, "c.pdf", "Download all files", "!<video")
	has(t, b.Get(base+"/summary"), "2 files, ", "Ada Lovelace")
	p := b.Get(address)
	status(t, "download", p, 200)
	if p.Text != content || !strings.HasPrefix(p.Header.Get("Content-Disposition"), "attachment") || !strings.Contains(p.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("download: %v", p.Header)
	}
	p = b.Get(address + "/thumbnail")
	if status(t, "thumbnail", p, 200); !strings.HasPrefix(p.Header.Get("Content-Type"), "image/") || p.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("thumbnail: %v", p.Header)
	}
	status(t, "thumbnail again", b.Get(address+"/thumbnail"), 200)
	status(t, "a picture is not played", b.Get(address+"/play"), 404)
	folder := "files/" + response + "/cv/"
	for path, want := range map[string]string{
		base + "/responses/" + response + "/files": folder + "p.png " + folder + "c.pdf",
		base + "/responses/export?format=zip":      "responses.csv " + folder + "p.png " + folder + "c.pdf",
	} {
		p = b.Get(path)
		archive, err := zip.NewReader(strings.NewReader(p.Text), int64(len(p.Text)))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var names []string
		for _, f := range archive.File {
			names = append(names, f.Name)
		}
		if strings.Join(names, " ") != want {
			t.Errorf("%s has %v, want %s", path, names, want)
		}
	}
	// Strangers find nothing, and visitors must sign in.
	s.AddUser(bob)
	stranger := s.Browser()
	stranger.SignIn(bob)
	for _, path := range []string{address, address + "/thumbnail", address + "/play", base + "/responses/" + response + "/files"} {
		status(t, path+" for a stranger", stranger.Get(path), 404)
		status(t, path+" for a visitor", s.Browser().Get(path), 303)
	}
}

// A file that waits for its response belongs to one form, and a page whose file is gone
// asks for it again.
func TestFileOfAnotherForm(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "cv", "kind": "file", "label": "Your CV?", "required": true}]}`)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		r.sendParts("next", part{control: "cv", content: "fil_01kgd4rh5vf69b91fnpw8qc2zt|1|image/png|x.png"})
		r.sees(422, "Upload the file again; it is not available any more.", "!x.png")
		r.sendParts("next", part{control: "cv", file: "a.pdf", content: pdf})
		r.sees(303)
	})
}

// A browser that posts a page again, because it got no answer, uploads the file again. That is
// one response, unless the file is another one.
func TestFilesPostedAgain(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "cv", "kind": "file", "label": "Your CV?", "required": true}]}`)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		first := r.b.Get(r.path)
		var endings []string
		for range 2 {
			r.page = first
			r.sendParts("next", part{control: "cv", file: "a.pdf", content: pdf})
			r.sees(303)
			endings = append(endings, r.page.Header.Get("Location"))
		}
		if endings[0] != endings[1] {
			t.Errorf("posted again: %s", endings)
		}
		r.page = first
		r.sendParts("next", part{control: "cv", file: "a.pdf", content: pdf + "\n"})
		r.sees(422, "Check your answers, then submit them.")
		if n := len(s.Call("GET", "/api/v1/forms/"+id+"/responses?after=", token, "").Body["data"].([]any)); n != 1 {
			t.Errorf("%d responses are stored", n)
		}
	})
}

// The preview accepts files and stores none.
func TestFilesInPreview(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, application)
		r := &respondent{t: t, b: s.Browser(), path: "/forms/" + id + "/preview"}
		r.b.SignIn(ada)
		r.page = r.b.Get(r.path)
		r.sees(200, `data-upload=""`)
		r.sendParts("next", part{control: "name", content: "Ada"}, part{control: "cv", file: "a.pdf", content: pdf})
		r.sees(200, "For a.pdf")
		r.sendParts("next", part{control: "sign", content: "Ada"})
		r.sees(200, "Thank you")
	})
}

// Pictures of options: uploaded in the builder, required to publish, shown to respondents.
func TestPictureChoice(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write,responses:read,responses:write").Access
		id := s.Call("POST", "/api/v1/forms", token, `{"title": "T", "fields": []}`).String("id")
		b := s.Browser()
		b.SignIn(ada)
		added := b.PostBody("/forms/"+id+"/pictures", "image/png", strings.NewReader(pngOf(t, 300, 200)))
		found := regexp.MustCompile(`"id":"(fil_[0-9a-z]{26})"`).FindStringSubmatch(added.Text)
		if status(t, "add picture", added, 201); found == nil {
			t.Fatalf("add picture: %s", added.Text)
		}
		status(t, "not a picture", b.PostBody("/forms/"+id+"/pictures", "image/png", strings.NewReader("<svg/>")), 422)
		status(t, "no such form", b.PostBody("/forms/frm_01kgd4rh5vf69b91fnpw8qc2zt/pictures", "image/png", strings.NewReader(pngOf(t, 3, 2))), 404)
		draft := func(alt string) string {
			return `{"fields": [{"key": "dish", "kind": "picture_choice", "label": "Which dish?", "several": true, "options": [{"value": "pie", "label": "Pie", "image": "` + found[1] + `", "alt": "` + alt + `"}]}]}`
		}
		s.Call("PATCH", "/api/v1/forms/"+id, token, draft(""))
		if p := s.Call("POST", "/api/v1/forms/"+id+"/publish", token, ""); p.StatusCode != 422 || !strings.Contains(p.Text, "fields.0.options.0.alt") {
			t.Errorf("published without alternative text: %s", p.Text)
		}
		s.Call("PATCH", "/api/v1/forms/"+id, token, draft("A round pie"))
		if p := s.Call("POST", "/api/v1/forms/"+id+"/publish", token, ""); p.StatusCode != 201 {
			t.Fatalf("publish: %s", p.Text)
		}
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		r.sees(200, `<img src="/pictures/`+found[1]+`" alt="A round pie"`, `type="checkbox"`, "kind-picture.css", "!multipart")
		if p := r.b.Get("/pictures/" + found[1]); p.StatusCode != http.StatusOK || !strings.HasPrefix(p.Header.Get("Content-Type"), "image/") {
			t.Errorf("the picture: %d", p.StatusCode)
		}
		r.send("next", "dish", "pie")
		r.sees(303)
	})
}

// loadedResource finds the scripts, styles and pictures that a page loads.
var loadedResource = regexp.MustCompile(`(?:src|href)="(/static/(?:[0-9a-f]+/)?([^"?]+)[^"]*)"`)

// Pages without these questions load nothing for them.
func TestOtherPagesStaySmall(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "single_choice", "options": [{"label": "x"}]}, {"key": "b", "kind": "calculated", "expression": "1"}]}`)
		p := s.Browser().Get("/f/" + id)
		has(t, p, "!multipart", "!kind-", "!upload.js", "!media-src")
		var loaded []string
		for _, m := range loadedResource.FindAllStringSubmatch(p.Text, -1) {
			resource := s.Browser().Get(m[1])
			status(t, m[1], resource, 200)
			loaded = append(loaded, m[2])
			// Nothing about files is in what all pages load.
			for _, word := range []string{"files?field", ".upload", "fil_", "canvas"} {
				if strings.Contains(resource.Text, word) {
					t.Errorf("%s contains %s", m[2], word)
				}
			}
		}
		if want := []string{"favicon.svg", "form-plain.css", "form.js"}; !slices.Equal(loaded, want) {
			t.Errorf("the page loads %v, want %v", loaded, want)
		}
		if policy := p.Header.Get("Content-Security-Policy"); strings.Contains(policy, "media-src") {
			t.Errorf("the policy allows media: %s", policy)
		}
	})
}

// Recordings are played on the page of the response, in a sandbox; everything else is only
// downloaded.
func TestPlayFile(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "voice", "kind": "file", "label": "Your voice?"}]}`)
		b := s.Browser()
		b.SignIn(ada)
		for _, c := range []struct{ player, name, content string }{
			{"audio", "voice.wav", "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"},
			{"video", "clip.webm", "\x1a\x45\xdf\xa3\x87\x42\x82\x84webm"},
		} {
			r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
			r.page = r.b.Get(r.path)
			r.sendParts("next", part{control: "voice", file: c.name, content: c.content})
			r.sees(303)
			list := s.Call("GET", "/api/v1/forms/"+id+"/responses", token, "").Body["data"].([]any)[0].(map[string]any)
			file := list["answers"].(map[string]any)["voice"].([]any)[0].(map[string]any)["id"].(string)
			address := "/forms/" + id + "/files/" + file
			p := b.Get("/forms/" + id + "/responses/" + list["id"].(string))
			has(t, p, "<"+c.player+` controls preload="none"`, ` src="`+address+`/play"`)
			if policy := p.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "media-src 'self'") {
				t.Errorf("the policy of the page: %s", policy)
			}
			p = b.Get(address + "/play")
			status(t, "play", p, 200)
			if p.Text != c.content || p.Header.Get("Content-Disposition") != "inline" || !strings.Contains(p.Header.Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("play: %v", p.Header)
			}
			status(t, "a recording has no thumbnail", b.Get(address+"/thumbnail"), 404)
		}
	})
}

// A request that is not what it says is refused with a page. Parts that belong to no
// question are ignored, and the form is shown again.
func TestHostileMultipart(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, application)
		b := s.Browser()
		const kind = "multipart/form-data; boundary=x"
		head := "--x\r\nContent-Disposition: form-data; name=\"cv\"; filename=\"a.pdf\"\r\n\r\n"
		for name, c := range map[string]struct {
			kind, body string
			status     int
		}{
			"no boundary":      {"multipart/form-data", "--x--\r\n", 400},
			"no parts":         {kind, "", 400},
			"cut off":          {kind, head + pdf, 400},
			"long text":        {kind, "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\n" + strings.Repeat("x", 1<<20+1) + "\r\n--x--\r\n", 413},
			"unknown question": {kind, strings.Replace(head, "cv", "zz", 1) + pdf + "\r\n--x--\r\n", 200},
			"not for files":    {kind, strings.Replace(head, "cv", "name", 1) + pdf + "\r\n--x--\r\n", 200},
			"long header":      {kind, "--x\r\nContent-Disposition: form-data; name=\"" + strings.Repeat("x", 200_000) + "\"\r\n\r\n\r\n--x--\r\n", 413},
			"long names":       {kind, strings.Repeat("--x\r\nContent-Disposition: form-data; name=\""+strings.Repeat("x", 30_000)+"\"\r\n\r\n\r\n", 40) + "--x--\r\n", 413},
			"no name":          {kind, "--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--\r\n", 200},
		} {
			if p := b.PostBody("/f/"+id, c.kind, strings.NewReader(c.body)); p.StatusCode != c.status || !strings.Contains(p.Text, "<!doctype html>") {
				t.Errorf("%s: %d, want %d\n%.300s", name, p.StatusCode, c.status, p.Text)
			}
		}
	})
}
