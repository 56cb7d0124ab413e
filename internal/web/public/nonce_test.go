package public

import (
	"context"
	"testing"
	"time"

	"formulary/internal/store"
)

// A nonce expires with its idempotency key: an older page may have been submitted before.
func TestNonceAges(t *testing.T) {
	now := time.Now()
	ctx, keys := t.Context(), store.SigningKeys{Current: []byte("key")}
	pages := &Pages{Config: Config{
		Now: func() time.Time { return now }, SigningKeys: func(context.Context) (store.SigningKeys, error) { return keys, nil },
	}}
	nonce := string(pages.newNonce(ctx, "frm_1"))
	if _, ours := pages.nonceTime(ctx, "frm_2", nonce); ours {
		t.Error("the nonce is valid for another form")
	}
	now = now.Add(23 * time.Hour)
	if made, ours := pages.nonceTime(ctx, "frm_1", nonce); !ours || now.Sub(made).Round(time.Second) != 23*time.Hour {
		t.Errorf("after 23 hours: %v %v", made, ours)
	}
	now = now.Add(time.Hour)
	if _, ours := pages.nonceTime(ctx, "frm_1", nonce); ours {
		t.Error("the nonce is still valid after a day")
	}
}

// A rotated key verifies until its time is over, and no longer signs.
func TestSigningKeyRotation(t *testing.T) {
	now := time.Now()
	ctx, keys := t.Context(), store.SigningKeys{Current: []byte("one")}
	pages := &Pages{Config: Config{
		Now: func() time.Time { return now }, SigningKeys: func(context.Context) (store.SigningKeys, error) { return keys, nil },
	}}
	old := pages.sign(ctx, "done", "frm_1")
	if !pages.isSigned(ctx, old, "done", "frm_1") || pages.isSigned(ctx, old, "done", "frm_2") || pages.isSigned(ctx, "", "done", "frm_1") {
		t.Error("a signature does not verify, or verifies what it did not sign")
	}
	keys = store.SigningKeys{Current: []byte("two"), Previous: []byte("one"), Until: now.Add(time.Hour)}
	if fresh := pages.sign(ctx, "done", "frm_1"); fresh == old || !pages.isSigned(ctx, fresh, "done", "frm_1") {
		t.Error("the new key does not sign")
	}
	if !pages.isSigned(ctx, old, "done", "frm_1") {
		t.Error("the previous key does not verify")
	}
	now = now.Add(time.Hour)
	if pages.isSigned(ctx, old, "done", "frm_1") {
		t.Error("the previous key verifies after its time")
	}
	keys = store.SigningKeys{Current: []byte("three"), Previous: []byte("two"), Until: now.Add(time.Hour)}
	if pages.isSigned(ctx, old, "done", "frm_1") {
		t.Error("a key from before the previous one verifies")
	}
}
