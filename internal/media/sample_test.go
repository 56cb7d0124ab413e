package media_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
)

// Colors of the quarters of quartered.
var (
	red   = color.RGBA{220, 20, 20, 255}
	green = color.RGBA{20, 200, 20, 255}
	blue  = color.RGBA{20, 20, 220, 255}
	white = color.RGBA{250, 250, 250, 255}
)

// quartered is red at the top left, green at the top right, blue at the bottom left and
// white at the bottom right.
func quartered(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, [2][2]color.RGBA{{red, green}, {blue, white}}[2*y/h][2*x/w])
		}
	}
	return m
}

func encodeJPEG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodePNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodeGIF(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gif.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Pictures of one pixel, without and with loss.
var losslessWebP, lossyWebP = decodeBase64("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="),
	decodeBase64("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")

func decodeBase64(text string) []byte {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return data
}

// exif returns a TIFF header with an orientation and the position of the camera.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	data := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		data = []byte("MM\x00*")
	}
	data = order.AppendUint32(data, 8)
	data = order.AppendUint16(data, 2)
	data = order.AppendUint16(data, 0x0112)
	data = order.AppendUint16(data, 3)
	data = order.AppendUint32(data, 1)
	data = order.AppendUint16(data, orientation)
	data = order.AppendUint16(data, 0)
	data = order.AppendUint16(data, 0x010f)
	data = order.AppendUint16(data, 2)
	data = order.AppendUint32(data, 4)
	data = append(data, "GPS\x00"...)
	return append(data, "\x00\x00\x00\x00secret place"...)
}

// withSegment adds a segment after the start of a JPEG file.
func withSegment(file []byte, marker byte, data []byte) []byte {
	segment := append([]byte{0xff, marker}, binary.BigEndian.AppendUint16(nil, uint16(len(data)+2))...)
	return bytes.Join([][]byte{file[:2], segment, data, file[2:]}, nil)
}

// withExif adds metadata to a JPEG file.
func withExif(file, tiff []byte) []byte {
	return withSegment(file, 0xe1, append([]byte("Exif\x00\x00"), tiff...))
}

// withChunk adds a chunk after the header of a PNG file.
func withChunk(file []byte, name string, data []byte) []byte {
	const headerEnd = 33
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	chunk = append(append(chunk, name...), data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	return bytes.Join([][]byte{file[:headerEnd], chunk, file[headerEnd:]}, nil)
}

// withPNGSize changes what the header of a PNG file says.
func withPNGSize(file []byte, w, h uint32) []byte {
	file = bytes.Clone(file)
	binary.BigEndian.PutUint32(file[16:], w)
	binary.BigEndian.PutUint32(file[20:], h)
	binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
	return file
}

// withJPEGSize changes what the header of a JPEG file says, and whether it says that the
// file is progressive.
func withJPEGSize(t testing.TB, file []byte, w, h uint16, isProgressive bool) []byte {
	t.Helper()
	file = bytes.Clone(file)
	at := bytes.Index(file, []byte{0xff, 0xc0})
	if at < 0 {
		t.Fatal("the file has no frame")
	}
	binary.BigEndian.PutUint16(file[at+5:], h)
	binary.BigEndian.PutUint16(file[at+7:], w)
	if isProgressive {
		file[at+1] = 0xc2
	}
	return file
}
