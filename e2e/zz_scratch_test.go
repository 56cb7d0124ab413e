package e2e

import (
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

func TestScratch(t *testing.T) {
	s := start(t)
	path := publishForm(t, s, form.Head{Title: "Party", Description: "Are you coming?", Language: "en"}, everyKind)
	b := openTab(t, s.URL)
	b.open(path)
	os.WriteFile("/tmp/shots/a.png", ask(b, chromedp.FullScreenshot(90)), 0o644)
	began := time.Now()
	for range 20 {
		b.open(path)
	}
	t.Log(time.Since(began) / 20)
	b.do(chromedp.EmulateViewport(360, 640))
	b.open(path)
	os.WriteFile("/tmp/shots/b.png", ask(b, chromedp.FullScreenshot(90)), 0o644)
}
