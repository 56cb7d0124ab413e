package media

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
)

// shrink scales a picture down to fit into a box. It needs little memory besides the
// result.
func shrink(m image.Image, box image.Point) *image.RGBA {
	size := m.Bounds().Size()
	target := fit(size, box)
	// Averaging whole pixels first, because interpolation looks at four only.
	if factor := averageFactor(size, target); factor > 1 || size == target {
		m = average(m, factor)
	}
	if averaged, ok := m.(*image.RGBA); ok && averaged.Rect.Size() == target {
		return averaged
	}
	return Resize(m, m.Bounds(), target)
}

func averageFactor(size, target image.Point) int {
	return max(1, min(size.X/target.X, size.Y/target.Y))
}

// shrinkCost returns the memory that shrink and upright take at most.
func shrinkCost(size, box image.Point) int64 {
	target := fit(size, box)
	averaged := size.Div(averageFactor(size, target))
	return 4 * (int64(averaged.X)*int64(averaged.Y) + 2*int64(target.X)*int64(target.Y))
}

// fit returns the largest size in the box with the proportions of size. It enlarges
// nothing.
func fit(size, box image.Point) image.Point {
	if size.X <= box.X && size.Y <= box.Y {
		return size
	}
	byWidth := image.Pt(box.X, max(1, (size.Y*box.X+size.X/2)/size.X))
	if byWidth.Y <= box.Y {
		return byWidth
	}
	return image.Pt(max(1, min(box.X, (size.X*box.Y+size.Y/2)/size.Y)), box.Y)
}

// average returns a picture in which each pixel is the average of factor × factor pixels.
// Pixels of the last columns and rows that fill no square are left out.
func average(m image.Image, factor int) *image.RGBA {
	bounds := m.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, bounds.Dx()/factor, bounds.Dy()/factor))
	if factor == 1 {
		draw.Draw(out, out.Rect, m, bounds.Min, draw.Src)
		return out
	}
	rows := image.NewRGBA(image.Rect(0, 0, out.Rect.Dx()*factor, factor))
	sums := make([]int, 4*out.Rect.Dx())
	for y := range out.Rect.Dy() {
		draw.Draw(rows, rows.Rect, m, bounds.Min.Add(image.Pt(0, y*factor)), draw.Src)
		clear(sums)
		for row := range factor {
			line := rows.Pix[row*rows.Stride:][:rows.Stride]
			for x := 0; x < len(sums); x += 4 {
				sum := sums[x : x+4 : x+4]
				for range factor {
					sum[0] += int(line[0])
					sum[1] += int(line[1])
					sum[2] += int(line[2])
					sum[3] += int(line[3])
					line = line[4:]
				}
			}
		}
		for i, sum := range sums {
			out.Pix[y*out.Stride+i] = uint8((sum + factor*factor/2) / (factor * factor))
		}
	}
	return out
}

const (
	jpegQuality = 85
	// maxPNGRatio is how much larger than a JPEG file a PNG file may be, which shows
	// drawings without loss.
	maxPNGRatio = 3
)

// encode returns a JPEG file for photos and a PNG file for drawings and whatever is
// transparent.
func encode(m *image.RGBA, isLossy bool) (Encoded, error) {
	result := Encoded{MIME: "image/png", Width: m.Rect.Dx(), Height: m.Rect.Dy()}
	isOpaque := m.Opaque()
	var asPNG, asJPEG bytes.Buffer
	if isOpaque {
		if err := jpeg.Encode(&asJPEG, m, &jpeg.Options{Quality: jpegQuality}); err != nil {
			return Encoded{}, fmt.Errorf("encode a picture: %w", err)
		}
	}
	if !isOpaque || !isLossy {
		if err := png.Encode(&asPNG, m); err != nil {
			return Encoded{}, fmt.Errorf("encode a picture: %w", err)
		}
		if !isOpaque || asPNG.Len() <= maxPNGRatio*asJPEG.Len() {
			result.Bytes = asPNG.Bytes()
			return result, nil
		}
	}
	result.MIME, result.Bytes = "image/jpeg", asJPEG.Bytes()
	return result, nil
}
