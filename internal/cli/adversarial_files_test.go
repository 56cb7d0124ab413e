package cli_test

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"formulary/internal/cli/clitest"
)

// Files that can be uploaded: one for a question, one as a picture of a form.
const (
	smallPDF = "%PDF-1.7\nsmall"
	// storedUpload is the name of an upload of smallPDF that is complete.
	storedUpload = "name-of-an-upload-0123456789"
	smallPNG     = "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90\x77\x53\xde\x00\x00\x00\x0c\x49\x44\x41\x54\x78\x9c\x63\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82"
)

// send sends bytes to the API.
func (w *fixture) send(c *caller, path, body string) clitest.Response {
	w.t.Helper()
	r, err := http.NewRequest("POST", w.service.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", c.value)
	a := w.service.Do(r)
	if a.StatusCode != http.StatusCreated {
		w.t.Fatalf("%s: %d %s", path, a.StatusCode, a.Text)
	}
	return a
}

// addFile adds a response with a file, which contains the owner's marker.
func (w *fixture) addFile(c *caller, form string) (file, response string) {
	w.t.Helper()
	file = w.send(c, "/f/"+form+"/files?field=papers", smallPDF+c.marker).String("id")
	body := strings.Replace(fmt.Sprintf(everyAnswer, c.marker), `"answers": {`, `"answers": {"papers": ["`+file+`"], `, 1)
	a := w.service.Call("POST", "/api/v1/forms/"+form+"/responses", w.token(c), body)
	if a.StatusCode != http.StatusCreated {
		w.t.Fatalf("respond: %d %s", a.StatusCode, a.Text)
	}
	return file, a.String("id")
}

// pageForm is an HTML form of a page, filled in.
type pageForm struct {
	method, action string
	controls       []param
}

var (
	formTag   = regexp.MustCompile(`(?s)<form([^>]*)>(.*?)</form>`)
	control   = regexp.MustCompile(`(?s)<(input|textarea|button|select)([^>]*)>(?:\s*<option[^>]*value="([^"]*)")?`)
	attribute = regexp.MustCompile(`([a-z-]+)="([^"]*)"`)
)

var validControl = map[string]string{"email": "new@example.com", "number": "5", "decimal": "5", "range": "5", "date": "2026-05-01", "time": "12:30", "datetime-local": "2026-05-01T12:30", "url": "https://example.com", "tel": "+49 228 123456", "password": clitest.Password}

func parseForms(page string) []pageForm {
	attributes := func(tag string) map[string]string {
		attrs := map[string]string{}
		for _, m := range attribute.FindAllStringSubmatch(tag, -1) {
			attrs[m[1]] = html.UnescapeString(m[2])
		}
		return attrs
	}
	var list []pageForm
	for _, m := range formTag.FindAllStringSubmatch(page, -1) {
		formAttrs := attributes(m[1])
		if formAttrs["data-path"] != "" {
			continue // sent by a script; these operations come from the document
		}
		f := pageForm{method: strings.ToUpper(formAttrs["method"]), action: formAttrs["action"], controls: []param{}}
		for _, c := range control.FindAllStringSubmatch(m[2], -1) {
			a := attributes(c[2])
			value := a["value"]
			if c[1] == "select" {
				value = html.UnescapeString(c[3])
			}
			if value == "" && a["type"] != "hidden" && a["name"] != "_website" {
				value = validControl[cmp.Or(a["type"], a["inputmode"])]
			}
			isHoneypot := a["name"] == "_website"
			isText := c[1] == "textarea" || c[1] == "input" && (a["type"] == "" || a["type"] == "text")
			if value == "" && isText && !isHoneypot {
				value = "words"
			}
			if name := a["name"]; name != "" && !slices.ContainsFunc(f.controls, func(p param) bool { return p.name == name }) {
				f.controls = append(f.controls, param{name: name, value: value})
			}
		}
		list = append(list, f)
	}
	return list
}
