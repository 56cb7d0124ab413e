package blob

import (
	"bytes"
	"io"
	"os"
)

// spooled has all bytes of an object and can read them several times.
type spooled struct {
	*io.SectionReader
	close func()
}

func (s spooled) Close() error {
	s.close()
	return nil
}

// spool reads the whole source before the request to S3, which can then be repeated and
// does not wait for a slow client. Objects that do not fit into a buffer go to a temporary
// file, which needs no sync: if the process ends, the object is not stored.
func (s *s3) spool(from *source) (spooled, error) {
	if body, ok, err := from.direct(); ok {
		return body, err
	}
	buffer := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	n, err := io.ReadFull(from, buffer[:])
	switch {
	case from.err != nil:
		return spooled{}, from.err
	case err != nil: // the end of a small object
		head := bytes.NewReader(bytes.Clone(buffer[:n]))
		return spooled{io.NewSectionReader(head, 0, int64(n)), func() {}}, nil
	}
	file, err := os.CreateTemp(s.temp, "formulary-upload-*")
	if err != nil {
		return spooled{}, err
	}
	// Where open files can be removed, a crash leaves nothing.
	os.Remove(file.Name())
	remove := func() {
		file.Close()
		os.Remove(file.Name())
	}
	_, err = file.Write(buffer[:])
	if err == nil {
		err = from.copyTo(file)
	}
	if err != nil {
		remove()
		return spooled{}, err
	}
	return spooled{io.NewSectionReader(file, 0, from.read), remove}, nil
}

// direct returns the reader of the caller if it can be read several times.
func (s *source) direct() (body spooled, ok bool, err error) {
	r, ok := s.r.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return spooled{}, false, nil
	}
	start, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return spooled{}, false, nil // a pipe
	}
	end, err := r.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = r.Seek(start, io.SeekStart)
	}
	switch size := end - start; {
	case err != nil:
		s.err = err
	case s.size > size:
		s.err = errShort
	case s.size >= 0 && s.size < size:
		s.err = errLong
	}
	return spooled{io.NewSectionReader(r, start, end-start), func() {}}, true, s.err
}
