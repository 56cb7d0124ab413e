package public

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

// Each page of a form has a nonce. It is the idempotency key of the submission, it has the
// time at which the page was rendered, and its signature shows that it is ours. So bots
// must load the page before they can submit, as people do.

// signer signs with one key. It reuses hashes, which are expensive to create.
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

// signers has the current key and, until a time, the previous one.
type signers struct {
	current, previous *signer
	until             time.Time
}

// signers returns the signers of the current keys. Keys may be rotated on any node.
func (pages *Pages) signers(ctx context.Context) (*signers, error) {
	keys, err := pages.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	s := pages.signing.Load()
	if s == nil || !bytes.Equal(s.current.key, keys.Current) {
		s = &signers{current: newSigner(keys.Current), previous: newSigner(keys.Previous), until: keys.Until}
		pages.signing.Store(s)
	}
	return s, nil
}

// message joins the parts of what is signed.
func message(to []byte, parts []string) []byte {
	for _, part := range parts {
		to = append(append(to, part...), 0)
	}
	return to
}

// sign returns a signature that is short enough for a link. It is empty, which isSigned
// never accepts, if there is no key because the database was never reachable.
func (pages *Pages) sign(ctx context.Context, parts ...string) string {
	s, err := pages.signers(ctx)
	if err != nil {
		return ""
	}
	var buffer [128]byte // on the stack; large enough for most messages
	return string(s.current.append(nil, message(buffer[:0], parts)))
}

// isSigned reports whether a signature of the same parts is ours: made with the current
// key, or with the previous one while that is valid.
func (pages *Pages) isSigned(ctx context.Context, signature string, parts ...string) bool {
	s, err := pages.signers(ctx)
	if err != nil {
		return false
	}
	var buffer [128]byte
	text := message(buffer[:0], parts)
	if hmac.Equal([]byte(signature), s.current.append(nil, text)) {
		return true
	}
	return pages.Now().Before(s.until) && hmac.Equal([]byte(signature), s.previous.append(nil, text))
}

// newNonce returns a nonce for a form. Its random part only tells nonces apart; the
// signature keeps others from inventing one.
func (pages *Pages) newNonce(ctx context.Context, formID string) []byte {
	var random [16]byte
	binary.LittleEndian.PutUint64(random[:], rand.Uint64())
	binary.LittleEndian.PutUint64(random[8:], rand.Uint64())
	nonce := append(base64.RawURLEncoding.AppendEncode(make([]byte, 0, 64), random[:]), '.')
	nonce = append(strconv.AppendInt(nonce, pages.Now().UnixMilli(), 36), '.')
	var buffer [128]byte
	message := append(append(append(buffer[:0], "nonce\x00"...), formID...), 0)
	for _, c := range nonce {
		if c == '.' {
			c = 0 // the separator of parts
		}
		message = append(message, c)
	}
	s, err := pages.signers(ctx)
	if err != nil {
		return nonce
	}
	return s.current.append(nonce, message)
}

// nonceTime returns the time at which the page with the nonce was rendered. It returns
// false if the nonce is not ours, or so old that its idempotency key may be forgotten.
func (pages *Pages) nonceTime(ctx context.Context, formID, nonce string) (time.Time, bool) {
	random, rest, _ := strings.Cut(nonce, ".")
	since, signature, _ := strings.Cut(rest, ".")
	if !pages.isSigned(ctx, signature, "nonce", formID, random, since) {
		return time.Time{}, false
	}
	milli, err := strconv.ParseInt(since, 36, 64)
	made := time.UnixMilli(milli)
	return made, err == nil && pages.Now().Sub(made) < store.IdempotencyKeyTTL
}
