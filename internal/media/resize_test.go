package media_test

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"formulary/internal/media"
)

func TestResize(t *testing.T) {
	t.Parallel()
	m := quartered(60, 40)
	if same := media.Resize(m, m.Rect, m.Rect.Size()); !bytes.Equal(same.Pix, m.Pix) {
		t.Error("a picture of the same size has other pixels")
	}
	// The corners keep their colors, whatever the size, and parts are cut exactly.
	for _, size := range []image.Point{{1, 1}, {2, 2}, {7, 90}, {59, 41}, {300, 200}} {
		out := media.Resize(m, image.Rect(30, 0, 60, 20), size)
		for i := 0; i < len(out.Pix); i += 4 {
			if got := (color.RGBA{out.Pix[i], out.Pix[i+1], out.Pix[i+2], out.Pix[i+3]}); got != green {
				t.Fatalf("%v: pixel %d of the green quarter is %v", size, i/4, got)
			}
		}
	}
	ramp := image.NewGray(image.Rect(10, 10, 12, 11))
	ramp.Pix[0], ramp.Pix[1] = 0, 200
	out := media.Resize(ramp, ramp.Rect, image.Pt(4, 3))
	for x, want := range []uint8{0, 50, 150, 200} {
		if got := out.RGBAAt(x, 2); got != (color.RGBA{want, want, want, 255}) {
			t.Errorf("pixel %d between black and gray is %v, want %d", x, got, want)
		}
	}
}
