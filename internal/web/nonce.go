package web

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// A page that asks carries a nonce: it makes sending twice store once, it says
// since when the page has been open, and its signature says that it is ours. So a
// program has to ask for the page before it can send anything, as people do.

// sign is short enough for a link, and nobody without the key can make it.
func (web *Web) sign(parts ...string) string {
	var room [128]byte // for most without a trip to the heap
	message := room[:0]
	for _, part := range parts {
		message = append(append(message, part...), 0)
	}
	return string(web.appendSignature(nil, message))
}

func (web *Web) appendSignature(to, message []byte) []byte {
	mac := web.macs.Get().(hash.Hash)
	defer web.macs.Put(mac)
	mac.Reset()
	mac.Write(message)
	var sum [sha256.Size]byte
	return base64.RawURLEncoding.AppendEncode(to, mac.Sum(sum[:0])[:16])
}

// nonce is a fresh one for a form. What is random in it tells two of them apart;
// that nobody can make one up is the signature's part.
func (web *Web) nonce(formID string) []byte {
	var room [128]byte
	message := append(append(append(room[:0], "nonce\x00"...), formID...), 0)
	from := len(message)
	message = append(strconv.AppendUint(strconv.AppendUint(message, rand.Uint64(), 36), rand.Uint64(), 36), 0)
	message = append(strconv.AppendInt(message, web.Now().UnixMilli(), 36), 0)
	nonce := bytes.ReplaceAll(message[from:], []byte{0}, []byte{'.'})
	return web.appendSignature(nonce, message)
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
