package web

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"formulary/internal/store"
)

// A page that asks carries a nonce: it makes sending twice store once, it says
// since when the page has been open, and its signature says that it is ours. So a
// program has to ask for the page before it can send anything, as people do.

// signer signs with one key and reuses the hashes that do it.
type signer struct {
	key  []byte
	macs sync.Pool
}

func newSigner(key []byte) *signer {
	s := &signer{key: key}
	s.macs.New = func() any { return hmac.New(sha256.New, key) }
	return s
}

func (s *signer) append(to, message []byte) []byte {
	mac := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	mac.Write(message)
	var sum [sha256.Size]byte
	return base64.RawURLEncoding.AppendEncode(to, mac.Sum(sum[:0])[:16])
}

// signers are those of the current key and, until its end, of the one before it.
type signers struct {
	current, previous *signer
	until             time.Time
}

// signers follows the rotation of keys, on whichever node it was done.
func (web *Handler) signers(ctx context.Context) (*signers, error) {
	keys, err := web.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	now := web.signing.Load()
	if now == nil || !bytes.Equal(now.current.key, keys.Current) {
		now = &signers{current: newSigner(keys.Current), previous: newSigner(keys.Previous), until: keys.Until}
		web.signing.Store(now)
	}
	return now, nil
}

// message joins what is signed.
func message(to []byte, parts []string) []byte {
	for _, part := range parts {
		to = append(append(to, part...), 0)
	}
	return to
}

// sign returns a signature that is short enough for a link. Without a key, as when
// the database was never in reach, it is empty, which signed never accepts.
func (web *Handler) sign(ctx context.Context, parts ...string) string {
	s, err := web.signers(ctx)
	if err != nil {
		return ""
	}
	var room [128]byte // on the stack for most
	return string(s.current.append(nil, message(room[:0], parts)))
}

// signed says whether a signature of the same parts is ours: made with the current
// key, or with the one before it while that one counts.
func (web *Handler) signed(ctx context.Context, signature string, parts ...string) bool {
	s, err := web.signers(ctx)
	if err != nil {
		return false
	}
	var room [128]byte
	text := message(room[:0], parts)
	if hmac.Equal([]byte(signature), s.current.append(nil, text)) {
		return true
	}
	return web.Now().Before(s.until) && hmac.Equal([]byte(signature), s.previous.append(nil, text))
}

// nonce is a fresh one for a form. What is random in it tells two of them apart;
// that nobody can make one up is the signature's part.
func (web *Handler) nonce(ctx context.Context, formID string) []byte {
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
	s, err := web.signers(ctx)
	if err != nil {
		return nonce
	}
	return s.current.append(nonce, message)
}

// since reads when the page with the nonce was made; false if it is none of ours, or
// so old that what was sent with it may be forgotten.
func (web *Handler) since(ctx context.Context, formID, nonce string) (time.Time, bool) {
	random, rest, _ := strings.Cut(nonce, ".")
	since, signature, _ := strings.Cut(rest, ".")
	if !web.signed(ctx, signature, "nonce", formID, random, since) {
		return time.Time{}, false
	}
	milli, err := strconv.ParseInt(since, 36, 64)
	made := time.UnixMilli(milli)
	return made, err == nil && web.Now().Sub(made) < store.IdempotencyKeyTTL
}
