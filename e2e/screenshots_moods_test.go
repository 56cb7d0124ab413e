//go:build screenshots

package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
	"formulary/internal/theme"
)

// moodTitles are titles and brand colors that suit the moods.
var moodTitles = map[theme.Mood][3]string{
	theme.Plain: {"Plot for the season", "Twenty square metres, water and tools included, from March to October.", "#1f6b57"}, theme.Paper: {"Ceramics weekend", "Two slow days at the wheel, lunch from the garden, and four pieces fired and sent to you.", "#b4532a"},
	theme.Night: {"Book a night session", "The room is yours from eight until the record is done.", "#7a59fc"}, theme.Bold: {"Print your own poster", "One day, four machines, no experience needed.", "#ffd400"},
	theme.Playful: {"Art afternoons for small hands", "Wednesdays after school. Aprons, paint and apple slices are on us.", "#ff6b4a"}, theme.Clinical: {"Before your first visit", "Your answers go to your therapist alone.", "#0a66d0"},
	theme.Elegant: {"Ida & Jonas are getting married", "On the twelfth of June, under the limes at Gut Sonnental.", "#5b6b4c"}, theme.Typed: {"Hardware night: bring a board", "Doors 18:00, soldering until late.", "#39ff14"},
}

// TestScreenshotsOfMoods writes screenshots of every mood in both layouts: on a desktop and
// a phone, in light and dark mode. Compare them after changes to the style sheets.
func TestScreenshotsOfMoods(t *testing.T) {
	folder := filepath.Join(previewDir, "moods")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s := start(t)
	db := openOwnerDB(t, s)
	token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:write").Access
	upload := func(width, height int, at func(x, y float64) color.Color) string {
		added := s.Call("POST", "/api/v1/files", token, drawn(t, width, height, at), "Content-Type: image/png")
		if added.StatusCode != 201 {
			t.Fatal(added.Text)
		}
		return added.String("id")
	}
	cover := upload(1600, 700, hills)
	b := openTab(t, s.URL)
	b.focusTab()
	for _, mood := range theme.Moods() {
		about := moodTitles[mood]
		brand, _ := theme.ParseColor(about[2])
		logo := upload(256, 256, func(x, y float64) color.Color { return ring(x, y, brand) })
		for i, layout := range []string{form.Classic, form.OneAtATime} {
			definition := parseDefinition(t, fmt.Sprintf(moodQuestions, about[2], mood))
			definition.Design.Layout, definition.Design.Logo = layout, logo
			if i == 1 || mood == theme.Typed {
				definition.Design.Cover = cover
			}
			path := db.publish(form.FormInput{Header: form.Header{Title: about[0], Description: about[1]}, Definition: definition})
			for _, width := range []int64{1280, 360} {
				b.do(chromedp.EmulateViewport(width, map[int64]int64{1280: 1500, 360: 1500}[width]))
				b.setColorScheme("light")
				b.wantStatus(b.open(path+moodAnswers), 200)
				if layout == form.OneAtATime && width == 360 { // the desktop shows the first screen
					b.wantStatus(b.press("button.primary"), 200)
				}
				for _, scheme := range []string{"light", "dark"} {
					b.setColorScheme(scheme)
					b.wait(`document.fonts.status === "loaded" && Array.from(document.images).every((i) => i.complete)`)
					name := fmt.Sprintf("%s-%s-%d-%s.png", mood, layout, width, scheme)
					if err := os.WriteFile(filepath.Join(folder, name), run(b, chromedp.CaptureScreenshot()), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// drawn returns a PNG file. The colors depend on the position, from 0 to 1.
func drawn(t testing.TB, width, height int, at func(x, y float64) color.Color) string {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			picture.Set(x, y, at(float64(x)/float64(width), float64(y)/float64(height)))
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// hills is a landscape for covers.
func hills(x, y float64) color.Color {
	for i, top := range []float64{.45, .62, .8} {
		if y < top+.08*math.Sin(x*float64(5+3*i)+float64(i)) {
			if math.Hypot((x-.7)*2.3, y-.3) < .16 && i == 0 {
				return color.RGBA{250, 214, 150, 255}
			}
			return color.RGBA{uint8(236 - 52*i), uint8(196 - 40*i), uint8(176 - 22*i), 255}
		}
	}
	return color.RGBA{72, 70, 96, 255}
}

// ring is a logo.
func ring(x, y float64, brand theme.Color) color.Color {
	if d := math.Hypot(x-.5, y-.5); d > .18 && d < .32 {
		return color.RGBA{255, 255, 255, 255}
	}
	return color.RGBA{brand[0], brand[1], brand[2], 255}
}
