package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"
	"time"
)

// A page that was open for longer than sendings are remembered has to be looked over
// before it is sent: it may have been sent before.
func TestNonceAges(t *testing.T) {
	now := time.Now()
	web := &Web{Config: Config{Now: func() time.Time { return now }}}
	web.macs.New = func() any { return hmac.New(sha256.New, []byte("key")) }
	nonce := string(web.nonce("frm_1"))
	if _, ours := web.since("frm_2", nonce); ours {
		t.Error("it is good for another form")
	}
	now = now.Add(23 * time.Hour)
	if made, ours := web.since("frm_1", nonce); !ours || now.Sub(made).Round(time.Second) != 23*time.Hour {
		t.Errorf("after 23 hours: %v %v", made, ours)
	}
	now = now.Add(time.Hour)
	if _, ours := web.since("frm_1", nonce); ours {
		t.Error("after a day it still is")
	}
}
