package media

// ErrDecoder is the error of a decoder that panicked.
var ErrDecoder = errDecoder
