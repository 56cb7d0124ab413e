// Package card draws the pictures that messengers and social networks show beside the link
// of a form: its title on the background of its mood, in its brand color. Pure functions.
package card

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"strings"
	"unicode"

	"formulary/internal/media"
	"formulary/internal/theme"
)

// Width and Height are what the networks recommend.
const (
	Width  = 1200
	Height = 630
)

// Card is what a picture shows.
type Card struct {
	Title string
	Theme theme.Spec
}

// Picture is a file of Width × Height pixels.
type Picture struct {
	Bytes []byte
	MIME  string
}

// Draw draws a card.
func Draw(c Card) (Picture, error) {
	font, err := titleFont()
	if err != nil {
		return Picture{}, err
	}
	p := &painter{canvas: newCanvas(), colors: theme.Light(c.Theme), start: artStart}
	p.fill(p.colors.Ground)
	lines, size := font.wrap(titleText(font, c), artStart-2*margin, Height-2*margin)
	if lines == nil {
		p.start = 0
	}
	p.drawArt(c.Theme.Mood)
	// The last line stands on the lower margin.
	for i, line := range lines {
		p.text(font, line, point{margin, Height - margin - float32(len(lines)-1-i)*size*leading}, size, p.colors.HeadInk)
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, p.image); err != nil {
		return Picture{}, fmt.Errorf("encode card: %w", err)
	}
	return Picture{out.Bytes(), "image/png"}, nil
}

// titleText returns the title as it is drawn. It is empty if the font lacks a letter of it:
// no text is better than half of one. Symbols are left out.
func titleText(f *font, c Card) string {
	text := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case f.has(r):
			return r
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r) && r < 0xfe00:
			return unicode.ReplacementChar
		}
		return -1
	}, c.Title)
	if strings.ContainsRune(text, unicode.ReplacementChar) {
		return ""
	}
	if c.Theme.Mood == theme.Bold {
		text = strings.Map(func(r rune) rune {
			if upper := unicode.ToUpper(r); f.has(upper) {
				return upper
			}
			return r
		}, text)
	}
	return strings.Join(strings.Fields(text), " ")
}

// Crop returns the middle of a picture, a cover for example.
func Crop(m image.Image) (Picture, error) {
	from := m.Bounds()
	if from.Dx()*Height > from.Dy()*Width {
		width := max(1, from.Dy()*Width/Height)
		from.Min.X += (from.Dx() - width) / 2
		from.Max.X = from.Min.X + width
	} else {
		height := max(1, from.Dx()*Height/Width)
		from.Min.Y += (from.Dy() - height) / 2
		from.Max.Y = from.Min.Y + height
	}
	out := image.NewRGBA(image.Rect(0, 0, Width, Height))
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, media.Resize(m, from, out.Rect.Size()), image.Point{}, draw.Over)
	var file bytes.Buffer
	if err := jpeg.Encode(&file, out, &jpeg.Options{Quality: 85}); err != nil {
		return Picture{}, fmt.Errorf("encode card: %w", err)
	}
	return Picture{file.Bytes(), "image/jpeg"}, nil
}
