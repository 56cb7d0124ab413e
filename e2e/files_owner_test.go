package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// drawWithPen draws a line on an element with a pen that is pressed more and more.
func (b *tab) drawWithPen(selector string) {
	b.t.Helper()
	b.do(chromedp.ScrollIntoView(selector))
	box := run(b, chromedp.Evaluate[struct{ X, Y, Width, Height float64 }](fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return { X: r.x, Y: r.y, Width: r.width, Height: r.height }; })()`, selector)))
	pen := func(kind input.DispatchMouseEventType, share float64, held int64) {
		b.t.Helper()
		sendCommand(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{
			Type: kind, X: box.X + box.Width*(.1+.8*share), Y: box.Y + box.Height*(.5-.3*share), Button: input.MouseButtonLeft, Buttons: held,
			ClickCount: 1, PointerType: input.DispatchMouseEventPointerTypePen, Force: share,
		})
	}
	pen(chromedp.MouseMoved, 0, 0)
	pen(chromedp.MousePressed, 0, 1)
	for step := range 10 {
		pen(chromedp.MouseMoved, float64(step)/10, 1)
	}
	pen(chromedp.MouseReleased, 1, 0)
}

// soundFile writes a second of silence.
func soundFile(t testing.TB) string {
	t.Helper()
	const head = "RIFF\x64\x1f\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x40\x1f\x00\x00"
	path := testFile(t, "voice.wav", 0)
	if err := os.WriteFile(path, []byte(head+strings.Repeat("\x80", 8000)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFilesFromPhone: a phone offers its camera, a pen signs; the owner sees small pictures and
// plays recordings.
func TestFilesFromPhone(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Visit"}, Definition: parseDefinition(t, `{"fields": [
		{"key": "cv", "kind": "file", "label": "Photos and recordings", "max_files": 3, "accept": ["image", "audio"]},
		{"key": "sign", "kind": "signature", "label": "Sign"}]}`)})
	b := openTab(t, s.URL)
	b.focusTab()
	sendCommand(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 2, Mobile: true})
	sendCommand(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 1})
	b.wantStatus(b.open(path), 200)
	b.wait(`document.querySelector(".signature.ready canvas")?.width > 0 && document.querySelector(".upload.ready") !== null`)
	b.wantText("Take a photo")
	const camera = `#cv input[type=file][capture=environment][accept="image/*"]`
	b.chooseFiles(camera, testFile(t, "photo.png", 0))
	b.waitUploaded("cv", 1)
	b.chooseFiles(cvInput, soundFile(t))
	b.waitUploaded("cv", 2)
	sendCommand(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{})
	b.drawWithPen(".pad canvas")
	b.wantStatus(b.press(button("Submit")), 200)

	answers := d.readStored(path)[0]
	if signature := form.FilesOf(answers["sign"]); len(signature) != 1 || signature[0].Type != "image/png" || signature[0].Size < 1000 {
		t.Errorf("the signature is %v", signature)
	}
	if names := strings.Join(storedNames(d, path, "cv"), " "); names != "photo.png voice.wav" {
		t.Errorf("stored %s", names)
	}

	owner := signedInTab(t, s, ada)
	responses := "/forms/" + strings.TrimPrefix(path, "/f/") + "/responses"
	owner.do(chromedp.EmulateViewport(800, 600)) // too narrow for a list beside the response
	owner.wantStatus(owner.open(responses), 200)
	const shown = `(pictures => pictures.length === 2 && pictures.every((p) => p.complete && p.naturalWidth > 0))([...document.querySelectorAll('img[src$="/thumbnail"]')].filter((p) => p.checkVisibility()))`
	owner.wait(shown)
	owner.wantStatus(owner.press(`.response-list a`), 200)
	owner.wait(shown)
	owner.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("audio").load()`))
	owner.wait(`Math.abs(document.querySelector("audio").duration - 1) < .1`)
}
