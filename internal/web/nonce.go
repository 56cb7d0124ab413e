package web

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"hash"
	"strconv"
	"strings"
	"time"
)

// A page that asks carries a nonce: it makes sending twice store once, it says
// since when the page has been open, and its signature says that it is ours. So a
// program has to ask for the page before it can send anything, as people do.

// sign is short enough for a link, and nobody without the key can make it.
func (web *Web) sign(parts ...string) string {
	mac := web.macs.Get().(hash.Hash)
	defer web.macs.Put(mac)
	mac.Reset()
	var room [128]byte // for most without a trip to the heap
	message := room[:0]
	for _, part := range parts {
		message = append(append(message, part...), 0)
	}
	mac.Write(message)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(room[:0])[:16])
}

// nonce is a fresh one for a form.
func (web *Web) nonce(formID string) string {
	random, since := rand.Text(), strconv.FormatInt(web.Now().UnixMilli(), 36)
	return random + "." + since + "." + web.sign("nonce", formID, random, since)
}

// since reads when the page with the nonce was made; false if it is none of ours.
func (web *Web) since(formID, nonce string) (time.Time, bool) {
	random, rest, _ := strings.Cut(nonce, ".")
	since, signature, _ := strings.Cut(rest, ".")
	if !hmac.Equal([]byte(signature), []byte(web.sign("nonce", formID, random, since))) {
		return time.Time{}, false
	}
	milli, err := strconv.ParseInt(since, 36, 64)
	return time.UnixMilli(milli), err == nil
}
