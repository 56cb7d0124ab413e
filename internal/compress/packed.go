package compress

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"strconv"
	"sync"
)

// Content is an answer that is kept and sent many times. It is compressed once, when
// somebody first asks for that.
type Content struct {
	plain  []byte
	packed func() []byte
}

// Keep prepares content.
func Keep(plain []byte) *Content {
	return &Content{plain, sync.OnceValue(func() []byte { return pack(plain) })}
}

// Cost is how much memory the content takes at most, for caches.
func (c *Content) Cost() int64 { return 2 * int64(len(c.plain)) }

// Packed is the content with gzip; nil if it is not worth it.
func (c *Content) Packed() []byte {
	if len(c.plain) < least {
		return nil
	}
	return c.packed()
}

// pack compresses, unless that saves nothing.
func pack(plain []byte) []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	zip.Write(plain) // a buffer takes everything
	zip.Close()
	if out.Len() >= len(plain) {
		return nil
	}
	return bytes.Clone(out.Bytes())
}

// Split is a page that is kept but for a secret in its middle, which differs each time.
// The parts around it are compressed once, each by itself; the secret is put between
// them as it is. So it is never compressed together with anything, and the length of
// the page does not depend on it.
type Split struct {
	Head, Tail []byte
	packed     func() *packedSplit
}

type packedSplit struct {
	head, tail []byte // parts of one deflate stream, with the header of gzip
	sum        uint32 // CRC-32 of the head as it is plain
}

// KeepSplit prepares a page.
func KeepSplit(head, tail []byte) Split {
	return Split{head, tail, sync.OnceValue(func() *packedSplit { return packSplit(head, tail) })}
}

// Cost is how much memory the page takes at most, for caches.
func (s Split) Cost() int64 { return 2 * int64(len(s.Head)+len(s.Tail)) }

// gzipHeader is that of a stream without a name or a time (RFC 1952).
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

func packSplit(head, tail []byte) *packedSplit {
	if len(head)+len(tail) < least {
		return nil
	}
	out := bytes.NewBuffer(bytes.Clone(gzipHeader))
	// flate.NewWriter fails only for a level that does not exist, and a buffer takes
	// everything. Flushing ends the head at a byte; the tail is made by a compressor
	// that knows nothing of the head, so it refers to nothing before itself.
	zip, _ := flate.NewWriter(out, flate.DefaultCompression)
	zip.Write(head)
	zip.Flush()
	middle := out.Len()
	zip.Reset(out)
	zip.Write(tail)
	zip.Close()
	if out.Len() >= len(head)+len(tail) {
		return nil
	}
	whole := bytes.Clone(out.Bytes())
	return &packedSplit{whole[:middle:middle], whole[middle:], crc32.ChecksumIEEE(head)}
}

// maxStored is how much a stored block of deflate holds.
const maxStored = 1<<16 - 1

// Packed is the page with gzip and the secret in its place, in parts; nil if it is not
// worth it.
func (s Split) Packed(secret []byte) [][]byte {
	if len(secret) > maxStored {
		return nil
	}
	packed := s.packed()
	if packed == nil {
		return nil
	}
	// A stored block: not the last one, type 0, its length and the complement of that.
	stored := make([]byte, 0, 5+len(secret))
	stored = binary.LittleEndian.AppendUint16(append(stored, 0), uint16(len(secret)))
	stored = binary.LittleEndian.AppendUint16(stored, ^uint16(len(secret)))
	stored = append(stored, secret...)
	sum := crc32.Update(crc32.Update(packed.sum, crc32.IEEETable, secret), crc32.IEEETable, s.Tail)
	end := binary.LittleEndian.AppendUint32(make([]byte, 0, 8), sum)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(s.Head)+len(secret)+len(s.Tail)))
	return [][]byte{packed.head, stored, packed.tail, end}
}

// SetHeader says that the body is compressed, and how long it is.
func SetHeader(h http.Header, length int) {
	h["Content-Encoding"] = encoded
	h["Content-Length"] = []string{strconv.Itoa(length)}
}
