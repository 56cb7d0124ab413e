package export

import "formulary/internal/form"

// So many responses, or so many bytes of them, are parsed at a time while others are
// written.
const (
	blockSize  = 256
	blockBytes = 1 << 20
)

// block is some responses and, once they were read, their answers.
type block struct {
	list    []form.Response
	answers []map[string]any // used again and again
	bytes   int
	err     error
}

// read reads the answers.
func (b *block) read() {
	for len(b.answers) < len(b.list) {
		b.answers = append(b.answers, map[string]any{})
	}
	b.err = nil
	for i, r := range b.list {
		if b.err = r.AnswersInto(b.answers[i]); b.err != nil {
			return
		}
	}
}

// prefetch writes the responses that each goes through: the answers of some are
// read, which is half of the work, while those before them are written.
func prefetch(each func(func(form.Response) error) error, write func(form.Response, map[string]any) error) error {
	unread, read := make(chan *block), make(chan *block, 1)
	defer close(unread)
	go func() {
		for b := range unread {
			b.read()
			read <- b
		}
	}()
	gathered, reading := &block{}, false
	// turn hands on what was gathered, and writes what was handed on before.
	turn := func() error {
		before := &block{}
		if reading {
			before = <-read
		}
		unread <- gathered
		gathered, reading = before, true
		for i, r := range before.list {
			if before.err != nil {
				return before.err
			}
			if err := write(r, before.answers[i]); err != nil {
				return err
			}
		}
		if before.bytes > blockBytes {
			before.answers = nil // rather than keeping what large responses took
		}
		clear(before.list)
		before.list, before.bytes = before.list[:0], 0
		return nil
	}
	err := each(func(r form.Response) error {
		gathered.list = append(gathered.list, r)
		gathered.bytes += len(r.JSON)
		if len(gathered.list) < blockSize && gathered.bytes < blockBytes {
			return nil
		}
		return turn()
	})
	for range 2 { // what was gathered last, and what was being read
		if err == nil {
			err = turn()
		}
	}
	return err
}
