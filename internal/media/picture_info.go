package media

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
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

// Markers of JPEG files.
const (
	markerBaseline    = 0xc0
	markerProgressive = 0xc2
	markerStartOfScan = 0xda
	markerExif        = 0xe1
)

// jpegInfo reads the segments before the pixels: dimensions, how they are encoded, and
// which way is up.
func jpegInfo(in *input) (info, error) {
	r := in.start()
	i := info{}
	if _, err := r.Discard(2); err != nil { // the start marker
		return info{}, err
	}
	for {
		marker, segment, err := readSegment(r)
		if err != nil {
			return info{}, err
		}
		switch marker {
		case markerBaseline, markerBaseline + 1, markerProgressive:
			if !i.readFrame(segment, marker == markerProgressive) {
				return info{}, errSegment
			}
		case markerExif:
			if tiff, ok := bytes.CutPrefix(segment, []byte(exifPrefix)); ok && i.orientation == 0 {
				i.orientation = exifOrientation(tiff)
			}
		case markerStartOfScan:
			return i, nil
		}
	}
}

var errSegment = errors.New("invalid segment")

// readSegment reads a marker, which may have any number of fill bytes, and its data.
func readSegment(r *bufio.Reader) (marker byte, data []byte, err error) {
	if fill, err := r.ReadByte(); err != nil || fill != 0xff {
		return 0, nil, errors.Join(errSegment, err)
	}
	for marker = 0xff; marker == 0xff && err == nil; {
		marker, err = r.ReadByte()
	}
	var length [2]byte
	if err == nil {
		_, err = io.ReadFull(r, length[:])
	}
	if err != nil {
		return 0, nil, err
	}
	size := int(binary.BigEndian.Uint16(length[:])) - len(length)
	if size < 0 {
		return 0, nil, errSegment
	}
	data = make([]byte, size)
	_, err = io.ReadFull(r, data)
	return marker, data, err
}

// readFrame reads the dimensions and how many samples there are per pixel.
func (i *info) readFrame(segment []byte, isProgressive bool) bool {
	if len(segment) < 6 || len(segment) != 6+3*int(segment[5]) || i.width > 0 {
		return false
	}
	i.height, i.width = int(binary.BigEndian.Uint16(segment[1:])), int(binary.BigEndian.Uint16(segment[3:]))
	// A picture in color has at most 3 samples per pixel, one for printing 4. The
	// decoder keeps a byte per sample, and for progressive pictures 4 more.
	i.bytesPerPixel = int(segment[5])
	if sampling := segment[7:]; len(sampling) == 8 && sampling[0] == 0x22 && sampling[3] == 0x11 && sampling[6] == 0x11 {
		i.bytesPerPixel = 2 // colors have a quarter of the resolution
	}
	if isProgressive {
		i.bytesPerPixel *= 5
	}
	return true
}

// maxScans is how many passes over its pixels a JPEG file may ask for. Usual are 10.
const maxScans = 100

// decodeJPEG refuses files that are small and take very long.
func decodeJPEG(r io.Reader) (image.Image, error) {
	return jpeg.Decode(&scanLimiter{r: r})
}

// scanLimiter counts the scans of a JPEG file.
type scanLimiter struct {
	r     io.Reader
	last  byte
	scans int
}

func (s *scanLimiter) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for _, c := range p[:n] {
		if s.last == 0xff && c == markerStartOfScan {
			s.scans++
		}
		s.last = c
	}
	if s.scans > maxScans {
		return 0, errors.New("too many scans")
	}
	return n, err
}
