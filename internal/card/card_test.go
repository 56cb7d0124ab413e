package card

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"formulary/internal/theme"
)

// TestDraw draws titles of all lengths and scripts in all moods. CARDS=folder keeps the
// pictures.
func TestDraw(t *testing.T) {
	brands := []string{"#1f6b57", "#b4532a", "#7a59fc", "#ffd400", "#ff6b4a", "#0a66d0", "#5b6b4c", "#39ff14"}
	for name, title := range map[string]string{
		"short": "Ceramics weekend", "long": strings.Repeat("Anmeldung für die Sommerakademie und das Öffnungsfest ", 4), "word": strings.Repeat("Donaudampfschiff", 9),
		"greek": "Ημέρα ανοιχτών εργαστηρίων", "none": "夏祭りの申し込み", "emoji": "Party 🎉", "empty": "",
	} {
		for i, mood := range theme.Moods() {
			if name != "short" && i%8 != 1 && os.Getenv("CARDS") == "" {
				continue // the others differ in the drawing only
			}
			brand, _ := theme.ParseColor(brands[i])
			picture, err := Draw(Card{title, theme.Spec{Brand: brand, Mood: mood}})
			if err != nil {
				t.Fatal(err)
			}
			m, err := png.Decode(bytes.NewReader(picture.Bytes))
			if err != nil || m.Bounds() != image.Rect(0, 0, Width, Height) {
				t.Fatalf("%s %s: %v", name, mood, err)
			}
			if len(picture.Bytes) > 300_000 {
				t.Errorf("%s %s has %d bytes", name, mood, len(picture.Bytes))
			}
			if folder := os.Getenv("CARDS"); folder != "" {
				if err := os.WriteFile(filepath.Join(folder, name+"-"+string(mood)+".png"), picture.Bytes, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestTitleText(t *testing.T) {
	f, err := titleFont()
	if err != nil {
		t.Fatal(err)
	}
	for title, want := range map[string]string{
		"  A\n b ": "A b", "Fête d’été — 2027": "Fête d’été — 2027", "Party 🎉!": "Party !", "Школа": "Школа",
		"夏祭り": "", "Party 夏": "", "مرحبا": "", "שלום": "", "a\u0301": "", "👩\u200d💻": "",
	} {
		if got := titleText(f, Card{Title: title}); got != want {
			t.Errorf("%q is drawn as %q", title, got)
		}
	}
	// The font has no upper case of ƒ.
	if got := titleText(f, Card{"ƒaß", theme.Spec{Mood: theme.Bold}}); got != "ƒAß" {
		t.Errorf("in bold: %q", got)
	}
}

// TestWrap: no line is wider than its space.
func TestWrap(t *testing.T) {
	f, err := titleFont()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"A", strings.Repeat("word ", 60) + "word", strings.Repeat("x", 300), "Two " + strings.Repeat("y", 80)} {
		lines, size := f.wrap(text, 500, 480)
		if len(lines) == 0 || len(lines) > 6 {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if f.width(line, size) > 500 {
				t.Errorf("%q is too wide", line)
			}
		}
	}
}

// TestFontIsReadable reads every glyph that a title may need.
func TestFontIsReadable(t *testing.T) {
	f, err := titleFont()
	if err != nil {
		t.Fatal(err)
	}
	if f.has(0x5b57) || f.has(0x1f389) || !f.has('é') {
		t.Error("the wrong characters have a glyph")
	}
	c := newCanvas()
	for r := rune(0x20); r < 0x2122; r++ {
		if f.has(r) {
			c.text(f, string(r), point{10, 300}, 80, theme.Color{})
		}
	}
	if _, err := parseFont([]byte("\x00\x01\x00\x00\x00\x09abc")); err == nil {
		t.Error("a damaged font was read")
	}
}

func TestCrop(t *testing.T) {
	for _, size := range []image.Point{{3000, 100}, {100, 3000}, {1, 1}, {1200, 630}, {800, 420}} {
		m := image.NewRGBA(image.Rectangle{Max: size})
		for i := range m.Pix {
			m.Pix[i] = 255
		}
		m.Set(0, 0, color.Black)
		picture, err := Crop(m)
		if err != nil {
			t.Fatal(err)
		}
		if config, format, err := image.DecodeConfig(bytes.NewReader(picture.Bytes)); err != nil || format != "jpeg" || config.Width != Width || config.Height != Height {
			t.Errorf("%v: %s %v %v", size, format, config, err)
		}
	}
}
