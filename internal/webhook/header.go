package webhook

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// header returns the headers of a request that is sent at a time.
func (c *Client) header(r Request, at time.Time) http.Header {
	signatures := make([]string, len(r.Secrets))
	for i, secret := range r.Secrets {
		signatures[i] = secret.signature(r.ID, at, r.Body)
	}
	return http.Header{
		"User-Agent": {c.agent}, "Content-Type": {"application/json"}, "Webhook-Id": {r.ID},
		"Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Webhook-Signature": {strings.Join(signatures, " ")},
	}
}

// Format returns a request as HTTP/1.1 would send it at a time, for people to read.
func (c *Client) Format(r Request, at time.Time) string {
	target, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	header := c.header(r, at)
	text := "POST " + target.RequestURI() + " HTTP/1.1\nHost: " + target.Host + "\n"
	for _, name := range []string{"User-Agent", "Content-Type", "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		text += name + ": " + header.Get(name) + "\n"
	}
	return text + "\n" + string(r.Body)
}
