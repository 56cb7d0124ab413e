package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/cli/clitest"
	"formulary/internal/form"
)

// addPicture uploads a picture of the owner and returns its ID.
func addPicture(t testing.TB, s *clitest.Service) string {
	t.Helper()
	content, err := os.ReadFile(testFile(t, "p.png", 0))
	if err != nil {
		t.Fatal(err)
	}
	token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:write").Access
	added := s.Call("POST", "/api/v1/files", token, string(content), "Content-Type: image/png")
	if added.StatusCode != 201 {
		t.Fatal(added.Text)
	}
	return added.String("id")
}

// TestPictureChoice: pictures are chosen with the keyboard, one or several.
func TestPictureChoice(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	options := strings.ReplaceAll(`"options": [{"value": "pie", "image": "ID", "alt": "A round pie"}, {"value": "cake", "image": "ID", "alt": "A cake"}, {"value": "ice", "image": "ID", "alt": "Ice"}]`, "ID", addPicture(t, s))
	path := d.publish(form.FormInput{Header: form.Header{Title: "Dishes"}, Definition: parseDefinition(t, `{"fields": [
		{"key": "one", "kind": "picture_choice", "label": "Which one?", "required": true, `+options+`}, {"key": "some", "kind": "picture_choice", "label": "Which ones?", "several": true, `+options+`}]}`)})
	b := openTab(t, s.URL)
	b.focusTab()
	b.wantStatus(b.open(path), 200)
	b.wait(`Array.from(document.images).slice(0, 3).every((picture) => picture.complete && picture.naturalWidth === 320)`)
	b.do(chromedp.Focus(`input[name="one"]`), chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" "),
		chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" "))
	for _, v := range b.axeViolations() {
		t.Error(v)
	}
	b.wantStatus(b.press(button("Submit")), 200)
	d.wantStored(path, `{"one": "cake", "some": ["pie", "ice"]}`)
}

// TestBuilderPictures: the builder uploads pictures of options and asks what they show.
func TestBuilderPictures(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Dishes", "")
	b.add("Picture choice", "Which dish?")
	b.wait(`document.querySelectorAll(".option-picture").length === 2`)
	for i, name := range []string{"one.png", "two.png"} {
		li := []string{"first-child", "last-child"}[i]
		b.do(chromedp.SetUploadFiles(`.panel .option-list > li:`+li+` input[type=file]`, []string{testFile(t, name, 0)}, chromedp.NodeReady))
		b.wait(`document.querySelector(".panel .option-list > li:` + li + ` img")?.naturalWidth > 0`)
	}
	b.fill(`.panel .option-list > li:first-child .picture-alt input`, "A round pie")
	for _, v := range b.axeViolations() {
		t.Error(v)
	}
	b.waitStored("pictures", func(d *form.Definition) bool {
		if len(d.Fields) == 0 {
			return false
		}
		o := d.Fields[0].Options
		return len(o) == 2 && o[0].Image != "" && o[0].Alt == "A round pie" && o[1].Image != ""
	})
	// The form itself shows the pictures too.
	b.wait(`(pictures => pictures.length === 2 && pictures.every((p) => p.naturalWidth > 0 && p.height > 60))([...document.querySelectorAll(".pictures img")])`)
	// Without a text for the second picture the form cannot be published.
	for i, name := range []string{"Pie", "Cake"} {
		b.fill(`.panel .option-list > li:`+[]string{"first-child", "last-child"}[i]+` [data-option]`, name)
	}
	b.waitStored("labels", func(d *form.Definition) bool { return d.Fields[0].Options[1].Label == "Cake" })
	b.do(chromedp.Click(".toolbar .primary"), chromedp.WaitVisible("dialog"))
	b.wait(`document.querySelector("dialog")?.innerText.toLowerCase().includes("describe the picture for people who cannot see it")`)
	b.do(chromedp.Click(`dialog .row button`))
	b.fill(`.panel .option-list > li:last-child .picture-alt input`, "A cake")
	b.waitStored("the second text", func(d *form.Definition) bool { return d.Fields[0].Options[1].Alt == "A cake" })

	// A file question has groups of types.
	b.add("File", "Your CV?")
	b.wait(`document.querySelectorAll(".panel .property input[type=checkbox]").length > 8`)
	b.do(chromedp.Click(`//fieldset[legend[.="File types"]]//label[.//span[.="PDF"]]`))
	b.waitStored("accepted types", func(d *form.Definition) bool {
		return len(d.Fields) == 2 && strings.Join(d.Fields[1].Accept, " ") == "pdf"
	})
}

// TestFilesAccessible: pages with files, signatures and their answers are accessible, on a
// small screen too.
func TestFilesAccessible(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Application"}, Definition: parseDefinition(t, `{"fields": [
		{"key": "cv", "kind": "file", "label": "Your CV", "max_files": 3, "max_size_mb": 1}, {"key": "sign", "kind": "signature", "label": "Sign"}]}`)})
	b := openTab(t, s.URL)
	b.do(chromedp.EmulateViewport(360, 640))
	b.wantStatus(b.open(path), 200)
	b.wait(`document.querySelectorAll(".ready").length === 2`)
	b.chooseFiles(cvInput, testFile(t, "a-certificate-with-a-very-long-name-that-must-wrap-somewhere.png", 0), testFile(t, "huge.pdf", 1<<20+1))
	b.waitUploaded("cv", 1)
	b.drawLine(".pad canvas", [2]float64{.2, .6}, [2]float64{.3, .2}, [2]float64{.4, .7})
	b.wait(`document.querySelector(".pad-row output").value === "Signature saved"`)
	check := func(where string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			b.setColorScheme(scheme)
			for _, v := range b.axeViolations() {
				t.Errorf("%s, %s: %s", where, scheme, v)
			}
		}
		if width := run(b, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); width > 360 {
			t.Errorf("%s is %d pixels wide on a screen of 360", where, width)
		}
	}
	check("the form")
	b.wantStatus(b.press(button("Submit")), 200)

	b = signedInTab(t, s, ada)
	b.do(chromedp.EmulateViewport(360, 640))
	base := strings.Replace(path, "/f/", "/forms/", 1)
	b.wantStatus(b.open(base+"/responses"), 200)
	b.wait(`Array.from(document.images).filter((picture) => picture.checkVisibility()).every((picture) => picture.complete && picture.naturalWidth > 0)`)
	check("the responses")
	b.wantStatus(b.press(`.response-list a`), 200)
	b.wait(`Array.from(document.images).length === 2 && Array.from(document.images).every((picture) => picture.complete && picture.naturalWidth > 0)`)
	check("the response")
	b.wantStatus(b.open(base+"/summary"), 200)
	b.wantText("1 file, ")
	check("the summary")
}
