package media_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"formulary/internal/media"
)

func picture(t testing.TB, file []byte, max media.Bounds) (media.Encoded, error) {
	return media.Picture(t.Context(), bytes.NewReader(file), int64(len(file)), max)
}

// mustShow returns the pixels of a picture, and checks that it is what it says.
func mustShow(t testing.TB, file []byte, max media.Bounds) (media.Encoded, image.Image) {
	t.Helper()
	e, err := picture(t, file, max)
	if err != nil {
		t.Fatal(err)
	}
	m, format, err := image.Decode(bytes.NewReader(e.Bytes))
	if err != nil || "image/"+format != e.MIME || m.Bounds() != image.Rect(0, 0, e.Width, e.Height) {
		t.Fatalf("%s %d × %d: %s, %v", e.MIME, e.Width, e.Height, format, err)
	}
	return e, m
}

// mustBeNear compares a color, which JPEG changes a little.
func mustBeNear(t testing.TB, m image.Image, x, y int, want color.RGBA) {
	t.Helper()
	r, g, b, _ := m.At(x, y).RGBA()
	for i, c := range []uint32{r >> 8, g >> 8, b >> 8} {
		if d := int(c) - int([]uint8{want.R, want.G, want.B}[i]); d > 30 || d < -30 {
			t.Errorf("the pixel at %d, %d is %v, not %v", x, y, m.At(x, y), want)
			return
		}
	}
}

func TestPictureSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ w, h, maxW, maxH, wantW, wantH int }{
		{40, 30, 0, 0, 40, 30},
		{40, 30, 400, 400, 40, 30}, // nothing is enlarged
		{400, 300, 100, 100, 100, 75},
		{300, 400, 100, 100, 75, 100},
		{400, 300, 399, 399, 399, 299},
		{403, 301, 100, 100, 100, 75},
		{3000, 2, 100, 100, 100, 1},
		{2, 3000, 100, 100, 1, 100},
		{3000, 20, 0, 0, 2560, 17},
		{1, 1, 1, 1, 1, 1},
	} {
		file := encodePNG(t, quartered(c.w, c.h))
		e, m := mustShow(t, file, media.Bounds{Width: c.maxW, Height: c.maxH})
		if e.Width != c.wantW || e.Height != c.wantH {
			t.Errorf("%d × %d within %d × %d is %d × %d", c.w, c.h, c.maxW, c.maxH, e.Width, e.Height)
		}
		if e.Width >= 20 && e.Height >= 20 {
			mustBeNear(t, m, 2, 2, red)
			mustBeNear(t, m, e.Width-3, 2, green)
			mustBeNear(t, m, 2, e.Height-3, blue)
			mustBeNear(t, m, e.Width-3, e.Height-3, white)
		}
	}
}

func TestPictureFormats(t *testing.T) {
	t.Parallel()
	m := quartered(60, 40)
	gray := image.NewGray(m.Rect)
	transparent := image.NewNRGBA(m.Rect)
	deep := image.NewNRGBA64(m.Rect)
	cmyk := image.NewPaletted(m.Rect, color.Palette{red, green, blue, color.Transparent})
	for name, c := range map[string]struct {
		file []byte
		mime string
	}{
		"jpeg":             {encodeJPEG(t, m), "image/jpeg"},
		"gray jpeg":        {encodeJPEG(t, gray), "image/jpeg"},
		"png":              {encodePNG(t, m), "image/png"},
		"gray png":         {encodePNG(t, gray), "image/png"},
		"transparent png":  {encodePNG(t, transparent), "image/png"},
		"16-bit png":       {encodePNG(t, deep), "image/png"},
		"paletted png":     {encodePNG(t, cmyk), "image/png"},
		"gif":              {encodeGIF(t, m), "image/png"},
		"webp":             {losslessWebP, "image/png"},
		"lossy webp":       {lossyWebP, "image/jpeg"},
		"fill bytes":       {bytes.Replace(encodeJPEG(t, m), []byte{0xff, 0xdb}, []byte{0xff, 0xff, 0xff, 0xdb}, 1), "image/jpeg"},
		"bytes at the end": {append(encodeJPEG(t, m), "more"...), "image/jpeg"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if e, _ := mustShow(t, c.file, media.Bounds{}); e.MIME != c.mime {
				t.Errorf("a %s becomes %s", name, e.MIME)
			}
		})
	}
	// A photo in a PNG file would be many times as large as in a JPEG file.
	noise := quartered(200, 200)
	for i := range noise.Pix {
		if i%4 != 3 {
			noise.Pix[i] = byte(i * i >> 3)
		}
	}
	if e, _ := mustShow(t, encodePNG(t, noise), media.Bounds{}); len(e.Bytes) > 120_000 {
		t.Errorf("a noisy PNG file becomes %s with %d bytes", e.MIME, len(e.Bytes))
	}
}

func TestOrientation(t *testing.T) {
	t.Parallel()
	// The corners of the stored picture that are at the top left and top right of the
	// upright one.
	corners := map[uint16][2]color.RGBA{
		0: {red, green}, 1: {red, green}, 2: {green, red}, 3: {white, blue}, 4: {blue, white},
		5: {red, blue}, 6: {blue, red}, 7: {white, green}, 8: {green, white}, 9: {red, green}, 65535: {red, green},
	}
	stored := quartered(60, 40)
	for orientation, want := range corners {
		for name, file := range map[string][]byte{
			"jpeg":            withExif(encodeJPEG(t, stored), exif(binary.LittleEndian, orientation)),
			"big endian jpeg": withExif(encodeJPEG(t, stored), exif(binary.BigEndian, orientation)),
			"png":             withChunk(encodePNG(t, stored), "eXIf", exif(binary.BigEndian, orientation)),
		} {
			e, m := mustShow(t, file, media.Bounds{Width: 30, Height: 20})
			isTurned := orientation >= 5 && orientation <= 8
			if isTurned && (e.Width != 13 || e.Height != 20) || !isTurned && (e.Width != 30 || e.Height != 20) {
				t.Errorf("%s, orientation %d: %d × %d", name, orientation, e.Width, e.Height)
			}
			mustBeNear(t, m, 2, 2, want[0])
			mustBeNear(t, m, e.Width-3, 2, want[1])
		}
	}
}

func TestMetadataIsRemoved(t *testing.T) {
	t.Parallel()
	m := quartered(60, 40)
	secret := exif(binary.LittleEndian, 1)
	for name, file := range map[string][]byte{
		"exif":     withExif(encodeJPEG(t, m), secret),
		"comment":  withSegment(encodeJPEG(t, m), 0xfe, []byte("secret place")),
		"polyglot": withSegment(encodeJPEG(t, m), 0xfe, []byte("<script>alert('secret place')</script>")),
		"tail":     append(encodeJPEG(t, m), "<html>secret place"...),
		"png text": withChunk(encodePNG(t, m), "tEXt", []byte("Comment\x00secret place")),
		"png exif": withChunk(encodePNG(t, m), "eXIf", secret),
		"png tail": append(encodePNG(t, m), "<script>secret place"...),
		"gif tail": append(encodeGIF(t, m), "*/alert('secret place')"...),
	} {
		e, _ := mustShow(t, file, media.Bounds{})
		if bytes.Contains(e.Bytes, []byte("secret")) || bytes.Contains(e.Bytes, []byte("<")) && bytes.Contains(e.Bytes, []byte("script")) {
			t.Errorf("%s: something of the original is left", name)
		}
	}
}

// TestHostilePictures: files that ask for much, are damaged or are something else are
// refused before they take memory or time.
func TestHostilePictures(t *testing.T) {
	m := quartered(60, 40)
	jpegFile, pngFile, gifFile := encodeJPEG(t, m), encodePNG(t, m), encodeGIF(t, m)
	hugeGIF := bytes.Clone(gifFile)
	copy(hugeGIF[6:], "\xff\xff\xff\xff")
	hugeWebP := bytes.Clone(losslessWebP)
	copy(hugeWebP[21:], "\xff\xff\xff\x0f")
	scans := bytes.Index(jpegFile, []byte{0xff, 0xda})
	manyScans := append(bytes.Clone(jpegFile[:len(jpegFile)-2]), bytes.Repeat(jpegFile[scans:scans+14], 200)...)
	rgb := withSegment(jpegFile, 0xee, adobeRGB)
	lateRGB := slices.Concat(jpegFile[:len(jpegFile)-2], rgb[2:2+4+len(adobeRGB)], jpegFile[len(jpegFile)-2:])
	namedRGB := bytes.Clone(jpegFile)
	frame := bytes.Index(jpegFile, []byte{0xff, 0xc0})
	namedRGB[frame+10], namedRGB[frame+13], namedRGB[frame+16] = 'R', 'G', 'B'
	cmyk := withSegment([]byte("\xff\xd8\xff\xda\x00\x02"), 0xc0, []byte("\x08\x10\x68\x10\x68\x04\x01\x11\x00\x02\x11\x00\x03\x11\x00\x04\x11\x00"))
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"25 million pixels in RGB":    {withJPEGSize(t, rgb, 5000, 5000, false), media.ErrTooManyPixels},
		"the same by names":           {withJPEGSize(t, namedRGB, 5000, 5000, false), media.ErrTooManyPixels},
		"RGB after the pixels":        {lateRGB, media.ErrNotPicture},
		"17 million pixels in CMYK":   {cmyk, media.ErrTooManyPixels},
		"nothing":                     {nil, media.ErrNotPicture},
		"text":                        {[]byte("hello"), media.ErrNotPicture},
		"svg":                         {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), media.ErrNotPicture},
		"html with a picture's start": {[]byte("GIF89a<script>alert(1)</script>"), media.ErrTooManyPixels},
		"javascript as a gif":         {[]byte("GIF89a/*" + strings.Repeat("\x00", 20) + "*/=1;alert(1)"), media.ErrNotPicture},
		"pdf":                         {[]byte("%PDF-1.7"), media.ErrNotPicture},
		"bmp":                         {[]byte("BM" + strings.Repeat("\x00", 100)), media.ErrNotPicture},
		"tiff":                        {[]byte("II*\x00" + strings.Repeat("\x00", 100)), media.ErrNotPicture},
		"only a jpeg header":          {jpegFile[:20], media.ErrNotPicture},
		"half a jpeg":                 {jpegFile[:len(jpegFile)/2], media.ErrNotPicture},
		"half a png":                  {pngFile[:len(pngFile)/2], media.ErrNotPicture},
		"half a gif":                  {gifFile[:len(gifFile)/2], media.ErrNotPicture},
		"half a webp":                 {losslessWebP[:len(losslessWebP)/2+5], media.ErrNotPicture},
		"wrong checksum":              {bytes.Replace(pngFile, []byte("IDAT"), []byte("IDAS"), 1), media.ErrNotPicture},
		"no pixels":                   {withPNGSize(pngFile, 0, 10), media.ErrNotPicture},
		"100,000 × 100,000 png":       {withPNGSize(pngFile, 100_000, 100_000), media.ErrTooManyPixels},
		"2^32-1 png":                  {withPNGSize(pngFile, 1<<32-1, 1<<32-1), media.ErrTooManyPixels},
		"wide png":                    {withPNGSize(pngFile, 1<<31-1, 1), media.ErrTooManyPixels},
		"65,535 × 65,535 jpeg":        {withJPEGSize(t, jpegFile, 65535, 65535, false), media.ErrTooManyPixels},
		"progressive jpeg":            {withJPEGSize(t, jpegFile, 6000, 6000, true), media.ErrTooManyPixels},
		"65,535 × 65,535 gif":         {hugeGIF, media.ErrTooManyPixels},
		"16,384 × 16,384 webp":        {hugeWebP, media.ErrTooManyPixels},
		"two sizes":                   {withSegment(jpegFile, 0xc0, []byte("\x08\x00\x10\x00\x10\x01\x01\x11\x00")), media.ErrNotPicture},
		"many scans":                  {manyScans, media.ErrNotPicture},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if e, err := picture(t, c.file, media.Bounds{}); !errors.Is(err, c.want) {
				t.Errorf("%s: %d × %d, %v", name, e.Width, e.Height, err)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
				t.Errorf("%s: %d KB were allocated", name, used>>10)
			}
		})
	}
	if _, err := picture(t, pngFile, media.Bounds{Pixels: 60*40 - 1}); !errors.Is(err, media.ErrTooManyPixels) {
		t.Errorf("one pixel more than allowed: %v", err)
	}
}

// adobeRGB is the content of a segment that says that colors are red, green and blue.
var adobeRGB = []byte("Adobe\x00\x64\x00\x00\x00\x00\x00")

// TestPicturesAround: segments about colors before the pixels, and a second picture after the
// first, are usual.
func TestPicturesAround(t *testing.T) {
	file := encodeJPEG(t, quartered(60, 40))
	second := withSegment(file, 0xe0, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"))
	for name, file := range map[string][]byte{
		"RGB":                  withSegment(file, 0xee, adobeRGB),
		"a picture in another": withExif(second, second),
		"two pictures":         slices.Concat(file, second),
	} {
		if e, err := picture(t, file, media.Bounds{}); err != nil || e.Width != 60 {
			t.Errorf("%s: %d × %d, %v", name, e.Width, e.Height, err)
		}
	}
}

// TestBomb: a small file with many pixels takes no more memory than its header says.
func TestBomb(t *testing.T) {
	const side = 3000
	bomb := encodePNG(t, image.NewGray(image.Rect(0, 0, side, side)))
	if len(bomb) > 100_000 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	mustShow(t, bomb, media.Bounds{Width: 200, Height: 200})
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 4*side*side {
		t.Errorf("%d MB were allocated", used>>20)
	}
}

// TestDecodingWaits: while other pictures take all memory for decoding, a picture waits
// until it is its turn or the caller gives up.
func TestDecodingWaits(t *testing.T) {
	file := encodePNG(t, quartered(60, 40))
	release := media.HoldDecoding()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := media.Picture(ctx, bytes.NewReader(file), int64(len(file)), media.Bounds{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without memory: %v", err)
	}
	done := make(chan error)
	go func() {
		_, err := picture(t, file, media.Bounds{})
		done <- err
	}()
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestPictureErrors: errors of the storage and of the caller are not errors of a picture.
func TestPictureErrors(t *testing.T) {
	t.Parallel()
	file := encodePNG(t, quartered(600, 400))
	failure := errors.New("the disk failed")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		r    io.ReadSeeker
		want error
	}{
		"canceled":        {canceled, bytes.NewReader(file), context.Canceled},
		"fails at once":   {t.Context(), failingReader{iotest.ErrReader(failure), bytes.NewReader(nil)}, failure},
		"fails afterward": {t.Context(), &failingLater{bytes.NewReader(file), failure}, failure},
	} {
		_, err := media.Picture(c.ctx, c.r, int64(len(file)), media.Bounds{})
		if !errors.Is(err, c.want) || errors.Is(err, media.ErrNotPicture) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type failingReader struct {
	io.Reader
	io.Seeker
}

// failingLater fails behind its first bytes.
type failingLater struct {
	*bytes.Reader
	err error
}

func (f *failingLater) Read(p []byte) (int, error) {
	if f.Size()-int64(f.Len()) > 100 {
		return 0, f.err
	}
	return f.Reader.Read(p[:min(len(p), 50)])
}

// FuzzPicture: whatever a file contains, there is an error or a picture within the bounds,
// and no decoder panics.
func FuzzPicture(f *testing.F) {
	m := quartered(20, 10)
	for _, file := range [][]byte{
		encodeJPEG(f, m), encodePNG(f, m), encodeGIF(f, m), losslessWebP, lossyWebP,
		withExif(encodeJPEG(f, m), exif(binary.LittleEndian, 6)), withChunk(encodePNG(f, m), "eXIf", exif(binary.BigEndian, 8)),
		[]byte("GIF89a"), []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x08\x00\x00\x00"),
	} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		const side = 50
		e, err := picture(t, file, media.Bounds{Pixels: 100_000, Width: side, Height: side})
		if err != nil {
			if errors.Is(err, media.ErrDecoder) {
				t.Fatal(err)
			}
			return
		}
		if e.Width < 1 || e.Height < 1 || e.Width > side || e.Height > side {
			t.Errorf("%d × %d", e.Width, e.Height)
		}
		decode := map[string]func(io.Reader) (image.Image, error){"image/png": png.Decode, "image/jpeg": jpeg.Decode}[e.MIME]
		if decode == nil {
			t.Fatalf("the type is %s", e.MIME)
		}
		if _, err := decode(bytes.NewReader(e.Bytes)); err != nil {
			t.Error(err)
		}
	})
}

// The tables of a lossless WebP file do not depend on the dimensions: a small picture could take
// all memory.
func TestLosslessTables(t *testing.T) {
	const side, length = 204, 2 << 20
	file := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f"), make([]byte, length-1)...)
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	binary.LittleEndian.PutUint32(file[16:], length)
	binary.LittleEndian.PutUint32(file[21:], (side-1)|(side-1)<<14)
	if _, err := picture(t, file, media.Bounds{}); !errors.Is(err, media.ErrTooManyPixels) {
		t.Errorf("got %v", err)
	}
}
