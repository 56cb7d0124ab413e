package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/blob/blobtest"
	"formulary/internal/form"
)

// applicationForm has files and other questions on the first page, and a signature on the
// second.
const applicationForm = `{"fields": [
	{"key": "name", "kind": "short_text", "label": "What is your name?", "required": true},
	{"key": "cv", "kind": "file", "label": "Your CV and certificates", "help": "At least your CV.", "accept": ["pdf", "image"], "max_files": 3, "max_size_mb": 2, "required": true},
	{"key": "photo", "kind": "file", "label": "A photo of you", "accept": ["image"]},
	{"key": "why", "kind": "short_text", "label": "Tell us about the photo", "show_if": {"field": "photo", "op": "answered"}},
	{"kind": "page_break", "label": "Signature"},
	{"key": "sign", "kind": "signature", "label": "Sign here", "required": true}]}`

// testFile writes a file of a type and at least a size, and returns its path.
func testFile(t testing.TB, name string, size int) string {
	t.Helper()
	var out bytes.Buffer
	if strings.HasSuffix(name, ".png") {
		picture := image.NewRGBA(image.Rect(0, 0, 320, 200))
		for x := range 320 {
			for y := range 200 {
				picture.Set(x, y, color.RGBA{uint8(x / 2), uint8(y), 140, 255})
			}
		}
		if err := png.Encode(&out, picture); err != nil {
			t.Fatal(err)
		}
	} else {
		out.WriteString("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")
	}
	out.Write(bytes.Repeat([]byte("\n"), max(0, size-out.Len())))
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	cvInput    = `#cv .drop > label:first-child input`
	photoInput = `#photo .drop > label:first-child input`
)

func (b *tab) chooseFiles(selector string, paths ...string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(selector, paths, chromedp.NodeReady))
}

// waitUploaded waits until files are uploaded and the page says so.
func (b *tab) waitUploaded(key string, n int) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelectorAll('#%[1]s input[type=hidden][name="%[1]s"]').length === %[2]d`, key, n))
}

// storedNames returns the names of the files in the only response.
func storedNames(d ownerDB, path, key string) []string {
	d.t.Helper()
	all := d.readStored(path)
	if len(all) != 1 {
		d.t.Fatalf("%d responses", len(all))
	}
	var names []string
	for _, f := range form.FilesOf(all[0][key]) {
		names = append(names, f.Name)
	}
	return names
}

// TestFilesWithoutJavaScript: the browser posts the files; they stay when something else is
// wrong, and after Back.
func TestFilesWithoutJavaScript(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Application"}, Definition: parseDefinition(t, applicationForm)})
	b := openTab(t, s.URL)
	b.disableScript()
	b.wantStatus(b.open(path), 200)
	b.do(chromedp.SetUploadFiles(`input[name="cv"]`, []string{testFile(t, "cv.pdf", 0), testFile(t, "degree.png", 0)}))
	b.fill(`input[name="name"]`, " ")
	b.wantStatus(b.press(button("Next")), 422)
	b.wantText("cv.pdf", "degree.png", "Answer this question.")
	b.fill(`input[name="name"]`, "Ada")
	b.do(chromedp.Click(`//label[.//input[@aria-label="Remove degree.png"]]`))
	b.wantStatus(b.press(button("Next")), 200)
	b.wantText("Type your full name to sign")
	b.wantStatus(b.press(button("Back")), 200)
	b.wantText("cv.pdf")
	b.wantNoText("degree.png")
	b.wantStatus(b.press(button("Next")), 200)
	b.fill(`input[name="sign"]`, "Ada Lovelace")
	b.wantStatus(b.press(button("Submit")), 200)
	if names := storedNames(d, path, "cv"); strings.Join(names, " ") != "cv.pdf" {
		t.Errorf("stored %v", names)
	}
	if sign := d.readStored(path)[0]["sign"]; sign != "Ada Lovelace" {
		t.Errorf("the signature is %v", sign)
	}
}

// TestFilesWithJavaScript: files are uploaded while the respondent goes on: chosen, dropped
// and pasted, with problems beside them; conditions see them.
func TestFilesWithJavaScript(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Application"}, Definition: parseDefinition(t, applicationForm)})
	b := openTab(t, s.URL)
	b.focusTab()
	b.wantStatus(b.open(path), 200)
	b.wait(`document.querySelectorAll(".upload.ready").length === 2`)
	b.wantText("Up to 3 files, 2 MB each: PDF, images.")
	b.wait(`document.getElementById("q-why").hidden`)

	b.chooseFiles(cvInput, testFile(t, "cv.pdf", 0), testFile(t, "huge.pdf", 2<<20+1))
	b.waitUploaded("cv", 1)
	b.wait(`document.querySelector("#cv [role=status]").textContent.includes("too large") || document.querySelector("#cv [role=status]").textContent === "cv.pdf uploaded"`)
	b.wantText("This file is too large. The limit is 2 MB.")
	b.do(chromedp.Click(`button[aria-label="Remove huge.pdf"]`))
	b.wait(`document.querySelectorAll("#cv .file").length === 1`)
	b.wait(`document.activeElement.getAttribute("aria-label") === "Remove cv.pdf"`)

	// A file whose content is of another type is refused by the server.
	b.monitor.expect("422 (Unprocessable")
	fake := testFile(t, "page.pdf", 0)
	if err := os.WriteFile(fake, []byte("<!doctype html><script>alert(1)</script>"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.chooseFiles(cvInput, fake)
	b.wait(`document.body.innerText.includes("This type of file is not accepted.")`)
	b.do(chromedp.Click(`button[aria-label="Remove page.pdf"]`))

	// Dropped onto the question.
	b.drop("#cv legend", testFile(t, "dropped.png", 0))
	b.waitUploaded("cv", 2)
	// Pasted while a control of the question has the focus.
	b.do(chromedp.Evaluate[chromedp.Void](`(() => {
		document.querySelector("#cv button").focus();
		const data = new DataTransfer();
		data.items.add(new File(["%PDF-1.4\n%%EOF\n"], "pasted.pdf", { type: "application/pdf" }));
		document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
	})()`))
	b.waitUploaded("cv", 3)
	b.wait(`document.querySelector("#cv .upload").classList.contains("full")`)

	// A condition shows another question once there is a file, and hides it again.
	b.chooseFiles(photoInput, testFile(t, "me.png", 0))
	b.wait(`!document.getElementById("q-why").hidden`)
	b.do(chromedp.Click(`button[aria-label="Remove me.png"]`))
	b.wait(`document.getElementById("q-why").hidden`)

	// An error elsewhere keeps the files.
	b.wantStatus(b.submitUnchecked(), 422)
	b.wait(`document.querySelectorAll(".upload.ready").length === 2`)
	b.wantText("cv.pdf", "dropped.png", "pasted.pdf", "Answer this question.")
	b.fill(`input[name="name"]`, "Ada")
	b.wantStatus(b.press(button("Next")), 200)

	b.wait(`document.querySelector(".signature.ready") !== null`)
	b.wantStatus(b.press(button("Back")), 200)
	b.wantText("pasted.pdf")
	b.wantStatus(b.press(button("Next")), 200)
	b.wait(`document.querySelector(".signature.ready") !== null`)
	b.do(chromedp.Click(`//label[.//span[.="Type"]]`))
	b.fill(`.typed input`, "Ada Lovelace")
	b.wantStatus(b.press(button("Submit")), 200)
	if names := strings.Join(storedNames(d, path, "cv"), " "); names != "cv.pdf dropped.png pasted.pdf" {
		t.Errorf("stored %v", names)
	}
}

// drop drags files from the desktop onto an element.
func (b *tab) drop(selector string, paths ...string) {
	b.t.Helper()
	b.do(chromedp.ScrollIntoView(selector))
	at := run(b, chromedp.Evaluate[struct{ X, Y float64 }](fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return { X: r.x + 20, Y: r.y + r.height / 2 }; })()`, selector)))
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		sendCommand(b, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: at.X, Y: at.Y, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1},
		})
	}
}

// setNetwork emulates a connection: bytes per second of uploads, or none at all.
func (b *tab) setNetwork(offline bool, upload float64) {
	b.t.Helper()
	sendCommand(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: offline, DownloadThroughput: -1, UploadThroughput: upload}},
	})
	sendCommand(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: offline, DownloadThroughput: -1, UploadThroughput: upload})
}

// TestUploadInterrupted: an upload can be canceled; one that loses the connection midway
// continues by itself where it stopped, and the form waits for it.
func TestUploadInterrupted(t *testing.T) {
	t.Parallel()
	address := blobtest.FreeAddress(t)
	proxy := blobtest.StartProxy(t, address)
	s := start(t, "--addr="+address, "--base-url=http://"+proxy.Address)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Files"}, Definition: parseDefinition(t, `{"fields": [{"key": "cv", "kind": "file", "label": "Your CV", "max_files": 2}]}`)})
	b := openTab(t, s.URL)
	b.focusTab()
	for _, lost := range []string{"ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED"} {
		b.monitor.expect(lost)
	}
	b.wantStatus(b.open(path), 200)
	b.wait(`document.querySelector(".upload.ready") !== null`)

	b.setNetwork(false, 40_000)
	b.chooseFiles(cvInput, testFile(t, "wrong.pdf", 2_000_000))
	b.wait(`document.querySelector("#cv progress")?.value > 0`)
	b.do(chromedp.Click(`button[aria-label="Cancel wrong.pdf"]`))
	b.wait(`document.querySelectorAll("#cv .file").length === 0`)
	b.wait(`document.querySelector("#cv [role=status]").textContent === "wrong.pdf canceled"`)

	b.do(chromedp.Evaluate[chromedp.Void](`(() => {
		window.sent = [];
		const { open, setRequestHeader } = XMLHttpRequest.prototype;
		XMLHttpRequest.prototype.open = function (method, to) { this.method = method; open.call(this, method, to); };
		XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
			if (name === "Upload-Offset") sent.push([this.method, value]);
			setRequestHeader.call(this, name, value);
		};
	})()`))
	b.chooseFiles(cvInput, testFile(t, "right.pdf", 400_000))
	b.wait(`document.querySelector("#cv progress")?.value > 0.1`)
	proxy.Set(blobtest.Fault{Refuse: true})
	b.wait(`document.body.innerText.includes("No connection. The upload continues when you are online again.")`)
	b.do(chromedp.Click(button("Submit")))
	b.wait(`document.body.innerText.includes("The form continues when the upload is complete.")`)
	proxy.Set(blobtest.Fault{})
	b.do(chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("online"))`))
	b.wait(`sent.length > 1`)
	sent := run(b, chromedp.Evaluate[[][2]any](`sent`))
	if len(sent) != 2 || sent[0][0] != "POST" || sent[1][0] != "PATCH" || sent[1][1] == 0.0 {
		t.Errorf("requests and their offsets: %v", sent)
	}
	b.setNetwork(false, -1)
	b.wait(`location.pathname.endsWith("/done")`)
	if names := strings.Join(storedNames(d, path, "cv"), " "); names != "right.pdf" {
		t.Errorf("stored %v", names)
	}
}

// mouse draws a line of points relative to an element.
func (b *tab) drawLine(selector string, points ...[2]float64) {
	b.t.Helper()
	b.do(chromedp.ScrollIntoView(selector))
	box := run(b, chromedp.Evaluate[struct{ X, Y, Width, Height float64 }](fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return { X: r.x, Y: r.y, Width: r.width, Height: r.height }; })()`, selector)))
	mouse := func(kind input.DispatchMouseEventType, at [2]float64, held int64) {
		b.t.Helper()
		sendCommand(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: box.X + at[0]*box.Width, Y: box.Y + at[1]*box.Height, Button: input.MouseButtonLeft, Buttons: held, ClickCount: 1})
	}
	mouse(chromedp.MouseMoved, points[0], 0)
	mouse(chromedp.MousePressed, points[0], 1)
	for _, at := range points[1:] {
		mouse(chromedp.MouseMoved, at, 1)
	}
	mouse(chromedp.MouseReleased, points[len(points)-1], 0)
}

// TestSignature: a signature is drawn, corrected and kept while the respondent moves
// between pages; with the keyboard it is typed.
func TestSignature(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Contract"}, Definition: parseDefinition(t, `{"fields": [{"key": "sign", "kind": "signature", "label": "Sign", "required": true}, {"kind": "page_break"}, {"key": "last", "kind": "short_text", "label": "Anything else?"}]}`)})
	b := openTab(t, s.URL)
	b.focusTab()
	b.wantStatus(b.open(path), 200)
	b.wait(`document.querySelector(".signature.ready canvas")?.width > 0`)
	b.do(chromedp.Click(button("Next")))
	b.wait(`document.getElementById("problem-sign") !== null`)

	b.drawLine(".pad canvas", [2]float64{.2, .6}, [2]float64{.3, .2}, [2]float64{.4, .7}, [2]float64{.6, .4})
	b.drawLine(".pad canvas", [2]float64{.6, .6}, [2]float64{.8, .6})
	b.wait(`document.querySelector(".pad").classList.contains("inked")`)
	b.wait(`document.getElementById("problem-sign") === null`)
	b.do(chromedp.Click(button("Undo")), chromedp.Click(button("Clear")))
	b.wait(`document.querySelector(".pad-row output").value === "Signature removed"`)
	b.wait(`!document.querySelector(".pad").classList.contains("inked")`)
	// Pressing Next right after the last stroke does not lose the drawing.
	b.drawLine(".pad canvas", [2]float64{.2, .6}, [2]float64{.3, .2}, [2]float64{.4, .7}, [2]float64{.6, .4})
	b.wantStatus(b.press(button("Next")), 200)
	b.wantText("Anything else?")
	b.wantStatus(b.press(button("Back")), 200)
	b.wait(`document.querySelector(".pad img")?.alt === "Your drawn signature"`)
	b.wantStatus(b.press(button("Next")), 200)
	b.wantStatus(b.press(button("Submit")), 200)
	files := form.FilesOf(d.readStored(path)[0]["sign"])
	if len(files) != 1 || files[0].Type != "image/png" || files[0].Size < 1000 {
		t.Errorf("the signature is %v", files)
	}

	b.wantStatus(b.open(path), 200)
	b.wait(`document.querySelector(".signature.ready") !== null`)
	b.do(chromedp.Focus(".sign-modes :checked"), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("Ada Lovelace"))
	b.wantStatus(b.navigate(chromedp.KeyEvent(kb.Enter)), 200)
	b.wantText("Anything else?")
	b.wantStatus(b.press(button("Submit")), 200)
	if sign := d.readStored(path)[1]["sign"]; sign != "Ada Lovelace" {
		t.Errorf("typed %v", sign)
	}
}
