package media

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/png"
	"io"

	"golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"
)

// Bounds limits a picture. A value of 0 means the default.
type Bounds struct {
	Pixels        int // of the original; 100 million
	Width, Height int // of the result, which is scaled down to fit; 2560
}

const (
	defaultPixels = 100_000_000
	defaultSide   = 2560
)

func (b Bounds) withDefaults() Bounds {
	if b.Pixels == 0 {
		b.Pixels = defaultPixels
	}
	if b.Width == 0 {
		b.Width = defaultSide
	}
	if b.Height == 0 {
		b.Height = defaultSide
	}
	return b
}

// Encoded is a JPEG or PNG file.
type Encoded struct {
	Bytes         []byte
	MIME          string
	Width, Height int
}

var (
	// ErrNotPicture means that a file is damaged, or not a JPEG, PNG, GIF or WebP file.
	ErrNotPicture = errors.New("the file is not a JPEG, PNG, GIF or WebP picture, or is damaged")
	// ErrTooManyPixels means that decoding a picture would take too much memory or time.
	ErrTooManyPixels = errors.New("the picture has too many pixels")
)

// decodeMemory is how many bytes all pictures that are decoded at the same time may take.
const decodeMemory = 128 << 20

// decoding shares decodeMemory: pictures wait for their turn.
var decoding = semaphore.NewWeighted(decodeMemory)

// Picture returns a picture that is safe to show: upright, within the bounds, encoded
// again, so that nothing of the original file remains but its pixels. Of an animation it
// returns the first frame. It looks at the dimensions before it decodes anything. size is
// the length of the file.
func Picture(ctx context.Context, r io.ReadSeeker, size int64, max Bounds) (out Encoded, err error) {
	err = read(ctx, r, size, max, func(m *image.RGBA, isLossy bool) (err error) {
		out, err = encode(m, isLossy)
		return err
	})
	return out, err
}

// Decode calls use with what Picture encodes.
func Decode(ctx context.Context, r io.ReadSeeker, size int64, max Bounds, use func(*image.RGBA) error) error {
	return read(ctx, r, size, max, func(m *image.RGBA, _ bool) error { return use(m) })
}

// read decodes a picture. Its memory is taken until use returns.
func read(ctx context.Context, r io.ReadSeeker, size int64, max Bounds, use func(m *image.RGBA, isLossy bool) error) error {
	max = max.withDefaults()
	format, err := detectFormat(r)
	if err != nil {
		return err
	}
	in := &input{ctx: ctx, file: r, size: size}
	info, err := format.info(in)
	if err != nil {
		return in.wrap(err)
	}
	if info.width <= 0 || info.height <= 0 {
		return ErrNotPicture
	}
	cost, ok := info.decodeCost(max.Pixels)
	if !ok {
		return ErrTooManyPixels
	}
	box := info.orientation.box(max)
	cost = min(decodeMemory, cost+shrinkCost(image.Pt(info.width, info.height), box)) // the largest one is decoded alone
	if err := decoding.Acquire(ctx, cost); err != nil {
		return fmt.Errorf("wait to decode a picture: %w", err)
	}
	defer decoding.Release(cost)
	original, err := decode(format, in.start())
	if err != nil {
		return in.wrap(err)
	}
	// Decoders allow more than the header says in no known case.
	if size := original.Bounds().Size(); size.X > info.width || size.Y > info.height {
		return ErrNotPicture
	}
	return use(upright(shrink(original, box), info.orientation), format.isLossy)
}

// format is a kind of picture file.
type format struct {
	info    func(*input) (info, error)
	decode  func(io.Reader) (image.Image, error)
	isLossy bool
}

var formats = map[string]format{
	"image/jpeg": {info: jpegInfo, decode: decodeJPEG, isLossy: true},
	"image/png":  {info: pngInfo, decode: png.Decode},
	"image/apng": {info: pngInfo, decode: png.Decode},
	"image/gif":  {info: gifInfo, decode: gif.Decode},
	"image/webp": {info: webpInfo, decode: webp.Decode, isLossy: true},
}

func detectFormat(r io.ReadSeeker) (format, error) {
	head := make([]byte, HeadSize)
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return format{}, fmt.Errorf("read a picture: %w", err)
	}
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return format{}, fmt.Errorf("read a picture: %w", err)
	}
	f, ok := formats[Detect(head[:n]).MIME]
	if !ok {
		return format{}, ErrNotPicture
	}
	return f, nil
}

// decode reports a panic of a decoder as a damaged file: a picture must not end the
// process.
func decode(f format, r io.Reader) (m image.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errDecoder, p)
		}
	}()
	return f.decode(r)
}

// errDecoder means that a decoder has a bug. Tests look for it.
var errDecoder = errors.New("the decoder failed")

// input reads the file until the caller gives up.
type input struct {
	ctx  context.Context
	file io.ReadSeeker
	size int64
	rest io.Reader
	err  error // of the context or the storage, not of the picture
}

// start returns a reader from the first byte on.
func (in *input) start() *bufio.Reader {
	if _, err := in.file.Seek(0, io.SeekStart); err != nil && in.err == nil {
		in.err = err
	}
	in.rest = io.LimitReader(in.file, in.size)
	return bufio.NewReaderSize(in, 16<<10)
}

func (in *input) Read(p []byte) (int, error) {
	if in.err == nil {
		in.err = in.ctx.Err()
	}
	if in.err != nil {
		return 0, in.err
	}
	n, err := in.rest.Read(p)
	if err != nil && err != io.EOF {
		in.err = err
	}
	return n, err
}

// wrap returns the error of a decoder as ErrNotPicture, unless the file could not be read.
func (in *input) wrap(err error) error {
	if in.err != nil {
		return fmt.Errorf("read a picture: %w", in.err)
	}
	return fmt.Errorf("%w (%w)", ErrNotPicture, err)
}
