package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"formulary/internal/store"
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
	var random [16]byte
	binary.LittleEndian.PutUint64(random[:], rand.Uint64())
	binary.LittleEndian.PutUint64(random[8:], rand.Uint64())
	nonce := append(base64.RawURLEncoding.AppendEncode(make([]byte, 0, 64), random[:]), '.')
	nonce = append(strconv.AppendInt(nonce, web.Now().UnixMilli(), 36), '.')
	var room [128]byte
	message := append(append(append(room[:0], "nonce\x00"...), formID...), 0)
	for _, c := range nonce {
		if c == '.' {
			c = 0 // as between other parts that are signed
		}
		message = append(message, c)
	}
	return web.appendSignature(nonce, message)
}

// since reads when the page with the nonce was made; false if it is none of ours, or
// so old that what was sent with it may be forgotten.
func (web *Web) since(formID, nonce string) (time.Time, bool) {
	random, rest, _ := strings.Cut(nonce, ".")
	since, signature, _ := strings.Cut(rest, ".")
	if !hmac.Equal([]byte(signature), []byte(web.sign("nonce", formID, random, since))) {
		return time.Time{}, false
	}
	milli, err := strconv.ParseInt(since, 36, 64)
	made := time.UnixMilli(milli)
	return made, err == nil && web.Now().Sub(made) < store.OnceKept
}
