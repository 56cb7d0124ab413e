package web

import (
	"context"
	"testing"
	"time"

	"formulary/internal/store"
)

// A page that was open for longer than sendings are remembered has to be looked over
// before it is sent: it may have been sent before.
func TestNonceAges(t *testing.T) {
	now := time.Now()
	ctx, keys := t.Context(), store.SigningKeys{Current: []byte("key")}
	web := &Handler{Config: Config{
		Now: func() time.Time { return now }, SigningKeys: func(context.Context) (store.SigningKeys, error) { return keys, nil },
	}}
	nonce := string(web.nonce(ctx, "frm_1"))
	if _, ours := web.since(ctx, "frm_2", nonce); ours {
		t.Error("it is good for another form")
	}
	now = now.Add(23 * time.Hour)
	if made, ours := web.since(ctx, "frm_1", nonce); !ours || now.Sub(made).Round(time.Second) != 23*time.Hour {
		t.Errorf("after 23 hours: %v %v", made, ours)
	}
	now = now.Add(time.Hour)
	if _, ours := web.since(ctx, "frm_1", nonce); ours {
		t.Error("after a day it still is")
	}
}

// A rotated key verifies for its time and no longer, and is never signed with.
func TestSigningKeyRotation(t *testing.T) {
	now := time.Now()
	ctx, keys := t.Context(), store.SigningKeys{Current: []byte("one")}
	web := &Handler{Config: Config{
		Now: func() time.Time { return now }, SigningKeys: func(context.Context) (store.SigningKeys, error) { return keys, nil },
	}}
	old := web.sign(ctx, "done", "frm_1")
	if !web.signed(ctx, old, "done", "frm_1") || web.signed(ctx, old, "done", "frm_2") || web.signed(ctx, "", "done", "frm_1") {
		t.Error("a signature does not verify, or verifies what it did not sign")
	}
	keys = store.SigningKeys{Current: []byte("two"), Previous: []byte("one"), Until: now.Add(time.Hour)}
	if fresh := web.sign(ctx, "done", "frm_1"); fresh == old || !web.signed(ctx, fresh, "done", "frm_1") {
		t.Error("the new key does not sign")
	}
	if !web.signed(ctx, old, "done", "frm_1") {
		t.Error("the previous key does not verify")
	}
	now = now.Add(time.Hour)
	if web.signed(ctx, old, "done", "frm_1") {
		t.Error("the previous key verifies after its time")
	}
	keys = store.SigningKeys{Current: []byte("three"), Previous: []byte("two"), Until: now.Add(time.Hour)}
	if web.signed(ctx, old, "done", "frm_1") {
		t.Error("a key from before the previous one verifies")
	}
}
