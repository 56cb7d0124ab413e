package media

import "context"

// ErrDecoder is the error of a decoder that panicked.
var ErrDecoder = errDecoder

// HoldDecoding takes all memory for decoding.
func HoldDecoding() (release func()) {
	if err := decoding.Acquire(context.Background(), decodeMemory); err != nil {
		panic(err)
	}
	return func() { decoding.Release(decodeMemory) }
}
