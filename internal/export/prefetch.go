package export

import "formulary/internal/form"

// Responses are parsed in blocks of limited size, while the block
// before is written.
const (
	blockSize  = 256
	blockBytes = 1 << 20
)

// block is a batch of responses with their parsed answers.
type block struct {
	list    []form.Response
	answers []map[string]any // reused by later blocks
	bytes   int
	err     error
}

// parse fills answers. It stops at the first error.
func (b *block) parse() {
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

// prefetch passes every response of each to write, with its answers. A second goroutine
// parses the next block while this one writes: parsing is half of the work.
func prefetch(each func(func(form.Response) error) error, write func(form.Response, map[string]any) error) error {
	toParse, parsed := make(chan *block), make(chan *block, 1)
	defer close(toParse)
	go func() {
		for b := range toParse {
			b.parse()
			parsed <- b
		}
	}()
	pending, isParsing := &block{}, false
	// advance sends the pending block to the parser, then writes the block that was
	// sent before.
	advance := func() error {
		previous := &block{}
		if isParsing {
			previous = <-parsed
		}
		toParse <- pending
		pending, isParsing = previous, true
		for i, r := range previous.list {
			if previous.err != nil {
				return previous.err
			}
			if err := write(r, previous.answers[i]); err != nil {
				return err
			}
		}
		if previous.bytes > blockBytes {
			previous.answers = nil // free the maps that large responses filled
		}
		clear(previous.list)
		previous.list, previous.bytes = previous.list[:0], 0
		return nil
	}
	err := each(func(r form.Response) error {
		pending.list = append(pending.list, r)
		pending.bytes += len(r.JSON)
		if len(pending.list) < blockSize && pending.bytes < blockBytes {
			return nil
		}
		return advance()
	})
	for range 2 { // the pending block, then the one being parsed
		if err == nil {
			err = advance()
		}
	}
	return err
}
