package file

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
)

// zip.Writer keeps the directory, an entry for each file, in memory until the end. splitZip
// uses a new one after partEntries entries and moves the directory of the last one to a
// temporary file, so that its memory does not depend on the number of files.
type splitZip struct {
	out     *switchWriter
	part    *zip.Writer
	entries int      // of the part
	moved   uint64   // entries in the temporary file
	spool   *os.File // directories of earlier parts; nil: there is none
}

// partEntries need about 5 MB. It is a variable for tests.
var partEntries = 10_000

func newSplitZip(out io.Writer) *splitZip {
	w := &splitZip{out: &switchWriter{to: out}}
	w.part = zip.NewWriter(w.out)
	return w
}

// switchWriter counts what it writes, and can write to something else meanwhile.
type switchWriter struct {
	to    io.Writer
	count int64
}

func (s *switchWriter) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.count += int64(n)
	return n, err
}

func (w *splitZip) create(header *zip.FileHeader) (io.Writer, error) {
	if w.entries >= partEntries {
		if err := w.endPart(); err != nil {
			return nil, err
		}
		w.part = zip.NewWriter(w.out)
		w.part.SetOffset(w.out.count)
	}
	w.entries++
	return w.part.CreateHeader(header)
}

// Lengths and signatures in zip files.
const (
	end64Signature   = "PK\x06\x06"
	locatorSignature = "PK\x06\x07"
	endSignature     = "PK\x05\x06"
	end64Length      = 56
	locatorLength    = 20
	endLength        = 22
)

// endPart moves the directory of the part to the temporary file.
func (w *splitZip) endPart() error {
	if err := w.part.Flush(); err != nil {
		return err
	}
	if w.spool == nil {
		spool, err := os.CreateTemp("", "formulary-zip-")
		if err != nil {
			return err
		}
		w.spool = spool
	}
	// Closing writes the rest of the last file, the directory and its end.
	var tail bytes.Buffer
	out, count := w.out.to, w.out.count
	w.out.to = &tail
	err := w.part.Close()
	w.out.to, w.out.count = out, count
	if err != nil {
		return err
	}
	rest, directory, ok := splitTail(tail.Bytes())
	if !ok {
		return errors.New("split zip file: no directory found")
	}
	if _, err := w.out.Write(rest); err != nil {
		return err
	}
	_, err = w.spool.Write(directory)
	w.moved += uint64(w.entries)
	w.entries = 0
	return err
}

// splitTail divides what zip.Writer.Close writes: the rest of the last file, and the directory
// without its end.
func splitTail(tail []byte) (rest, directory []byte, ok bool) {
	end := len(tail) - endLength
	if end < 0 || !bytes.HasPrefix(tail[end:], []byte(endSignature)) {
		return nil, nil, false
	}
	size := uint64(binary.LittleEndian.Uint32(tail[end+12:]))
	if n := end - locatorLength; n >= end64Length && bytes.HasPrefix(tail[n:], []byte(locatorSignature)) {
		end = n - end64Length
		size = binary.LittleEndian.Uint64(tail[end+40:])
	}
	if size > uint64(end) {
		return nil, nil, false
	}
	start := end - int(size)
	return tail[:start], tail[start:end], true
}

// finish writes the directory.
func (w *splitZip) finish() error {
	if w.spool == nil {
		return w.part.Close()
	}
	if err := w.endPart(); err != nil {
		return err
	}
	offset := uint64(w.out.count)
	if _, err := w.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(w.out, w.spool); err != nil {
		return err
	}
	_, err := w.out.Write(directoryEnd(w.moved, uint64(w.out.count)-offset, offset))
	return err
}

// directoryEnd is the end of a directory. Larger numbers than its fields allow are in a record
// with 64 bits before it.
func directoryEnd(entries, size, offset uint64) []byte {
	var b []byte
	if entries >= math.MaxUint16 || size >= math.MaxUint32 || offset >= math.MaxUint32 {
		const version = 45 // the first with 64 bits
		b = append(b, end64Signature...)
		b = binary.LittleEndian.AppendUint64(b, end64Length-12)
		b = binary.LittleEndian.AppendUint16(b, version)
		b = binary.LittleEndian.AppendUint16(b, version)
		b = append(b, make([]byte, 8)...) // disks
		for _, n := range []uint64{entries, entries, size, offset} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
		b = append(b, locatorSignature...)
		b = binary.LittleEndian.AppendUint32(b, 0) // disk
		b = binary.LittleEndian.AppendUint64(b, offset+size)
		b = binary.LittleEndian.AppendUint32(b, 1) // disks
		entries, size, offset = math.MaxUint16, math.MaxUint32, math.MaxUint32
	}
	b = append(b, endSignature...)
	b = append(b, make([]byte, 4)...) // disks
	b = binary.LittleEndian.AppendUint16(b, uint16(entries))
	b = binary.LittleEndian.AppendUint16(b, uint16(entries))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	b = binary.LittleEndian.AppendUint32(b, uint32(offset))
	return append(b, 0, 0) // no comment
}

// close deletes the temporary file.
func (w *splitZip) close() {
	if w.spool != nil {
		w.spool.Close()
		os.Remove(w.spool.Name())
	}
}
