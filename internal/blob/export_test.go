package blob

import "time"

// WithTimeouts shortens the time after which an S3 server counts as hanging.
func WithTimeouts(c Config, stall time.Duration) Config {
	c.timeouts = timeouts{connect: stall, stall: stall}
	return c
}
