package media

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"io"
)

// Markers of JPEG files.
const (
	markerBaseline    = 0xc0
	markerProgressive = 0xc2
	markerRestart     = 0xd0 // the first of 8
	markerStart       = 0xd8
	markerEnd         = 0xd9
	markerStartOfScan = 0xda
	markerJFIF        = 0xe0
	markerExif        = 0xe1
	markerAdobe       = 0xee
)

// jpegInfo reads the segments before the pixels: dimensions, how they are encoded, and
// which way is up.
func jpegInfo(in *input) (info, error) {
	r := in.start()
	i := info{}
	isConverted := false
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
			isConverted = isConverted || hasConvertedColors(segment)
		case markerAdobe:
			isConverted = isConverted || isAdobeRGB(segment)
		case markerExif:
			if tiff, ok := bytes.CutPrefix(segment, []byte(exifPrefix)); ok && i.orientation == 0 {
				i.orientation = exifOrientation(tiff)
			}
		case markerStartOfScan:
			if isConverted {
				i.bytesPerPixel += 4
			}
			return i, nil
		}
	}
}

// hasConvertedColors reports whether the decoder makes a second picture with 4 bytes per pixel:
// from pictures for printing, and from those whose components are called R, G and B.
func hasConvertedColors(frame []byte) bool {
	switch frame[5] {
	case 3:
		return frame[6] == 'R' && frame[9] == 'G' && frame[12] == 'B'
	case 4:
		return true
	}
	return false
}

// isAdobeRGB reports whether a segment says that colors are red, green and blue, which the
// decoder converts too.
func isAdobeRGB(segment []byte) bool {
	return len(segment) >= 12 && string(segment[:5]) == "Adobe" && segment[11] == 0
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

// scanLimiter counts the scans of a JPEG file. After the first scan it also refuses segments
// that change how colors are converted, because jpegInfo has counted the memory by then.
type scanLimiter struct {
	r     io.Reader
	state scanState
	size  int // of the segment, as far as it is read
	skip  int // bytes of the segment that follow
	scans int
}

// scanState is what the next byte of a JPEG file is.
type scanState int

const (
	inData     scanState = iota // pixels, or the first byte of a marker
	inMarker                    // the second byte of a marker
	inSizeHigh                  // of a segment
	inSizeLow
	atEnd
)

func (s *scanLimiter) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for rest := p[:n]; len(rest) > 0 && s.state != atEnd; {
		var used int
		switch {
		case s.skip > 0:
			used = min(s.skip, len(rest))
			s.skip -= used
		case s.state == inData:
			if used = bytes.IndexByte(rest, 0xff) + 1; used == 0 {
				return n, err
			}
			s.state = inMarker
		default:
			used = 1
			if err := s.readByte(rest[0]); err != nil {
				return 0, err
			}
		}
		rest = rest[used:]
	}
	return n, err
}

var (
	errScans    = errors.New("too many scans")
	errLateMark = errors.New("a segment about colors follows the pixels")
)

// readByte reads a byte of a marker, or of the size of its segment.
func (s *scanLimiter) readByte(c byte) error {
	switch s.state {
	case inSizeHigh:
		s.size, s.state = int(c)<<8, inSizeLow
	case inSizeLow:
		s.skip, s.state = max(0, s.size+int(c)-2), inData
	case inMarker:
		return s.readMarker(c)
	}
	return nil
}

func (s *scanLimiter) readMarker(c byte) error {
	switch {
	case c == 0xff: // a fill byte
		return nil
	case c == 0 || c >= markerRestart && c <= markerStart: // no segment follows
		s.state = inData
		return nil
	case c == markerEnd:
		s.state = atEnd
		return nil
	case s.scans > 0 && (c == markerJFIF || c == markerAdobe):
		return errLateMark
	case c == markerStartOfScan:
		if s.scans++; s.scans > maxScans {
			return errScans
		}
	}
	s.state = inSizeHigh
	return nil
}
