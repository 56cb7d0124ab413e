package scan

import "time"

// SetTimeouts shortens the time after which a scanner counts as hanging.
func (c *Client) SetTimeouts(d time.Duration) {
	c.connectTimeout, c.stallTimeout, c.answerTimeout = d, d, d
}
