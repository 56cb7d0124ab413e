package card

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
)

// thumbnailScale is how many pixels of a card become one, in each direction.
const thumbnailScale = 4

// DrawThumbnail draws a small card, for lists.
func DrawThumbnail(c Card) (Picture, error) {
	large, err := Draw(c)
	if err != nil {
		return Picture{}, err
	}
	from, err := png.Decode(bytes.NewReader(large.Bytes))
	if err != nil {
		return Picture{}, fmt.Errorf("decode card: %w", err)
	}
	small := image.NewRGBA(image.Rect(0, 0, Width/thumbnailScale, Height/thumbnailScale))
	const pixels = thumbnailScale * thumbnailScale
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			var red, green, blue uint32
			for i := range pixels {
				r, g, b, _ := from.At(x*thumbnailScale+i%thumbnailScale, y*thumbnailScale+i/thumbnailScale).RGBA()
				red, green, blue = red+r>>8, green+g>>8, blue+b>>8
			}
			small.SetRGBA(x, y, color.RGBA{uint8(red / pixels), uint8(green / pixels), uint8(blue / pixels), 255})
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small); err != nil {
		return Picture{}, fmt.Errorf("encode thumbnail: %w", err)
	}
	return Picture{out.Bytes(), "image/png"}, nil
}
