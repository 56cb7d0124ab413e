package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/gif"
	"io"

	"golang.org/x/image/webp"
)

// info is what the header of a picture says.
type info struct {
	width, height int
	// bytesPerPixel is the memory that decoding takes, rounded up.
	bytesPerPixel int
	orientation   orientation
	tables        int64 // bytes that decoding takes beside the pixels
}

// decodeCost returns the memory that decoding takes; !ok: more than is allowed.
func (i info) decodeCost(maxPixels int) (cost int64, ok bool) {
	if i.height > maxPixels/i.width {
		return 0, false
	}
	cost = int64(i.width)*int64(i.height)*int64(i.bytesPerPixel) + i.tables
	return cost, cost <= decodeMemory
}

// Parts of a PNG file.
const (
	pngSignatureSize = 8
	pngChecksumSize  = 4
	pngHeaderSize    = 13
)

// pngInfo reads the chunks before the pixels.
func pngInfo(in *input) (info, error) {
	r := in.start()
	i := info{bytesPerPixel: 4}
	if _, err := io.CopyN(io.Discard, r, pngSignatureSize); err != nil {
		return info{}, err
	}
	var head [8]byte
	for isFirst := true; ; isFirst = false {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return info{}, err
		}
		length, name := int64(binary.BigEndian.Uint32(head[:])), string(head[4:])
		if isFirst != (name == "IHDR") || isFirst && length != pngHeaderSize {
			return info{}, errSegment
		}
		if name == "IDAT" {
			return i, nil
		}
		data, err := readChunk(r, length+pngChecksumSize)
		switch {
		case err != nil:
			return info{}, err
		case isFirst:
			i.readPNGHeader(data)
		case name == "eXIf":
			i.orientation = exifOrientation(data)
		}
	}
}

func (i *info) readPNGHeader(data []byte) {
	// Larger numbers are not valid; they are refused as too large.
	i.width = int(min(binary.BigEndian.Uint32(data), 1<<31-1))
	i.height = int(min(binary.BigEndian.Uint32(data[4:]), 1<<31-1))
	if depth := data[8]; depth == 16 {
		i.bytesPerPixel = 8
	}
	if isInterlaced := data[12] != 0; isInterlaced {
		i.bytesPerPixel *= 2
	}
}

// maxChunk is how much of a chunk is read. Chunks with the orientation are smaller.
const maxChunk = 64 << 10

// readChunk returns the first bytes of a chunk and reads all of it.
func readChunk(r io.Reader, length int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, min(length, maxChunk)))
	if err == nil {
		_, err = io.CopyN(io.Discard, r, length-int64(len(data)))
	}
	return data, err
}

func gifInfo(in *input) (info, error) {
	config, err := gif.DecodeConfig(in.start())
	return infoOf(config, 2), err
}

func webpInfo(in *input) (info, error) {
	config, err := webp.DecodeConfig(in.start())
	if err != nil {
		return info{}, err
	}
	i := infoOf(config, 8) // of lossy pictures, the transparency is decoded apart
	// Tables of the lossless format take up to 100 times the bytes that they are in, whatever
	// the dimensions.
	i.tables = 100 * webpLossless(in.start())
	i.orientation = webpOrientation(in.start())
	return i, nil
}

// webpLossless returns how many bytes of a file are in the lossless format: the picture, or the
// transparency of a lossy one.
func webpLossless(r io.Reader) (n int64) {
	const fileHeaderSize = 12
	if _, err := io.CopyN(io.Discard, r, fileHeaderSize); err != nil {
		return 0
	}
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return n
		}
		length, name := int64(binary.LittleEndian.Uint32(head[4:])), string(head[:4])
		if name == "VP8L" || name == "ALPH" {
			n += length
		}
		if _, err := io.CopyN(io.Discard, r, length+length%2); err != nil {
			return n
		}
	}
}

// webpOrientation reads the chunk with the orientation, which is at the end of a file. It
// returns 0 if there is none.
func webpOrientation(r io.Reader) orientation {
	const fileHeaderSize, hasExif = 12, 1 << 3
	if _, err := io.CopyN(io.Discard, r, fileHeaderSize); err != nil {
		return 0
	}
	for isFirst := true; ; isFirst = false {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return 0
		}
		length, name := int64(binary.LittleEndian.Uint32(head[4:])), string(head[:4])
		data, err := readChunk(r, length+length%2)
		switch {
		case err != nil:
			return 0
		case name == "EXIF":
			return exifOrientation(bytes.TrimPrefix(data, []byte(exifPrefix)))
		case isFirst && (name != "VP8X" || len(data) == 0 || data[0]&hasExif == 0):
			return 0
		}
	}
}

// exifPrefix precedes the TIFF header in JPEG files, and by mistake in others.
const exifPrefix = "Exif\x00\x00"

func infoOf(c image.Config, bytesPerPixel int) info {
	return info{width: c.Width, height: c.Height, bytesPerPixel: bytesPerPixel}
}
