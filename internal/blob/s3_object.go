package blob

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"
)

// s3Object reads an object. It continues with another request after a seek, and if the
// connection fails.
type s3Object struct {
	ctx    context.Context
	s      *s3
	key    string
	offset int64 // of the next byte
	end    int64 // of the bytes to read; -1 until the size is known
	size   int64 // of the object

	body   io.ReadCloser // nil: not requested, or closed
	at     int64         // offset of body
	failed int           // connections that failed since the last byte
}

// start requests the bytes from offset on.
func (o *s3Object) start() error {
	var options minio.GetObjectOptions
	if o.offset > 0 || o.end >= 0 {
		// An end of 0 means the end of the object.
		if err := options.SetRange(o.offset, max(o.end-1, 0)); err != nil {
			return err
		}
	}
	body, info, header, err := o.s.requests.get(o.ctx, o.s.prefix+o.key, options)
	if minio.ToErrorResponse(err).Code == minio.InvalidRange { // offset is behind the end
		return o.stat()
	}
	if err != nil {
		return o.s.wrap(o.ctx, "read an object", err)
	}
	o.size = totalSize(header.Get("Content-Range"), info.Size)
	if o.end < 0 || o.end > o.size {
		o.end = o.size
	}
	o.body, o.at = body, o.offset
	return nil
}

// stat finds an object of which no byte is to be read.
func (o *s3Object) stat() error {
	info, err := o.s.requests.stat(o.ctx, o.s.prefix+o.key)
	o.size, o.end = info.Size, o.offset
	return o.s.wrap(o.ctx, "find an object", err)
}

func (o *s3Object) Read(p []byte) (int, error) {
	for {
		if o.end >= 0 && o.offset >= o.end {
			return 0, io.EOF
		}
		if o.at != o.offset {
			o.Close()
		}
		if o.body == nil {
			if err := o.start(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := o.body.Read(p)
		o.offset += int64(n)
		o.at = o.offset
		if n > 0 {
			o.failed = 0
			return n, nil // an error returns with the next read
		}
		if err == nil {
			continue
		}
		o.Close()
		if o.failed++; o.failed >= requestAttempts || o.ctx.Err() != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, o.s.wrap(o.ctx, "read an object", err)
		}
	}
}

// Seek allows http.ServeContent to find out the size and to serve ranges.
func (o *s3Object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.offset
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the start of an object")
	}
	o.offset = offset
	return offset, nil
}

func (o *s3Object) Close() error {
	if o.body == nil {
		return nil
	}
	err := o.body.Close()
	o.body = nil
	return err
}

// totalSize returns the size of the object of which a response has a part. Without
// Content-Range, it has all of it.
func totalSize(contentRange string, length int64) int64 {
	_, total, _ := strings.Cut(contentRange, "/")
	if size, err := strconv.ParseInt(total, 10, 64); err == nil {
		return size
	}
	return length
}
