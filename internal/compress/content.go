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

// Content is a cached response body. It is compressed once, at the first call of Gzip.
type Content struct {
	plain      []byte
	compressed func() []byte
}

// NewContent returns a Content with the given body.
func NewContent(plain []byte) *Content {
	return &Content{plain, sync.OnceValue(func() []byte { return compressBytes(plain) })}
}

// Cost returns the maximum memory of the content in bytes, for the limits of caches.
func (c *Content) Cost() int64 { return 2 * int64(len(c.plain)) }

// Gzip returns the content compressed with gzip, or nil if that does not pay off.
func (c *Content) Gzip() []byte {
	if len(c.plain) < minSize {
		return nil
	}
	return c.compressed()
}

// compressBytes compresses plain. It returns nil if the result is not smaller.
func compressBytes(plain []byte) []byte {
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	gz.Write(plain) // writing to a buffer cannot fail
	gz.Close()
	if out.Len() >= len(plain) {
		return nil
	}
	return bytes.Clone(out.Bytes())
}

// Split is a cached page with a secret in its middle that differs in each response. The
// parts before and after it are compressed once, each by itself, and the secret is
// inserted uncompressed. So the secret is never compressed together with other text, and
// the length of the page does not depend on it.
type Split struct {
	Head, Tail []byte
	compressed func() *compressedSplit
}

type compressedSplit struct {
	head, tail []byte // parts of one deflate stream; head starts with the gzip header
	headCRC    uint32 // CRC-32 of the uncompressed head
}

// NewSplit returns a Split with the given parts before and after the secret.
func NewSplit(head, tail []byte) Split {
	return Split{head, tail, sync.OnceValue(func() *compressedSplit { return compressSplit(head, tail) })}
}

// Cost returns the maximum memory of the page in bytes, for the limits of caches.
func (s Split) Cost() int64 { return 2 * int64(len(s.Head)+len(s.Tail)) }

// gzipHeader is the header of a gzip stream without file name and time (RFC 1952).
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// compressSplit compresses head and tail. It returns nil if the result is not smaller.
func compressSplit(head, tail []byte) *compressedSplit {
	if len(head)+len(tail) < minSize {
		return nil
	}
	out := bytes.NewBuffer(bytes.Clone(gzipHeader))
	// No errors: the level is valid, and writing to a buffer cannot fail. Flush ends the
	// head at a byte boundary. Reset clears the window, so that the tail contains no
	// references to the head.
	gz, _ := flate.NewWriter(out, flate.DefaultCompression)
	gz.Write(head)
	gz.Flush()
	headEnd := out.Len()
	gz.Reset(out)
	gz.Write(tail)
	gz.Close()
	if out.Len() >= len(head)+len(tail) {
		return nil
	}
	stream := bytes.Clone(out.Bytes())
	return &compressedSplit{stream[:headEnd:headEnd], stream[headEnd:], crc32.ChecksumIEEE(head)}
}

// maxStoredBlock is the maximum size of a stored (uncompressed) block in deflate.
const maxStoredBlock = 1<<16 - 1

// Gzip returns the page with the secret, compressed with gzip, in parts to be written
// one after the other. It returns nil if compression does not pay off.
func (s Split) Gzip(secret []byte) [][]byte {
	if len(secret) > maxStoredBlock {
		return nil
	}
	split := s.compressed()
	if split == nil {
		return nil
	}
	// The header of a stored block: a zero byte (not the last block, type 0), the length
	// and its complement.
	block := make([]byte, 0, 5+len(secret))
	block = binary.LittleEndian.AppendUint16(append(block, 0), uint16(len(secret)))
	block = binary.LittleEndian.AppendUint16(block, ^uint16(len(secret)))
	block = append(block, secret...)
	crc := crc32.Update(crc32.Update(split.headCRC, crc32.IEEETable, secret), crc32.IEEETable, s.Tail)
	trailer := binary.LittleEndian.AppendUint32(make([]byte, 0, 8), crc)
	trailer = binary.LittleEndian.AppendUint32(trailer, uint32(len(s.Head)+len(secret)+len(s.Tail)))
	return [][]byte{split.head, block, split.tail, trailer}
}

// SetHeader sets the headers of a compressed body of the given length.
func SetHeader(h http.Header, length int) {
	h["Content-Encoding"] = gzipEncoding
	h["Content-Length"] = []string{strconv.Itoa(length)}
}
