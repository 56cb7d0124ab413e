package account

import (
	"context"
	"crypto/rand"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/id"
)

// TestSecrets shows that a secret can be parsed, that secrets sort by time, and that
// altered texts are rejected.
func TestSecrets(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_123)
	owner := id.New(id.User, now)
	s := NewSecret(AccessToken, owner, now)
	key, ok := ParseSecret(AccessToken, s.Text)
	if !ok || key != (SecretRef{owner, s.ID, s.Hash}) || len(s.Text) != 84 {
		t.Errorf("%+v was parsed as %+v", s, key)
	}
	if later := NewSecret(AccessToken, owner, now.Add(time.Millisecond)); later.ID <= s.ID {
		t.Error("selectors do not sort by time")
	}
	for _, bad := range []string{"", s.Text[4:], "fmr_" + s.Text[4:], s.Text + "A", s.Text[:83], s.Text[:83] + "!", s.Text[:83] + "\n"} {
		if _, ok := ParseSecret(AccessToken, bad); ok {
			t.Errorf("%q was accepted", bad)
		}
	}
	if strings.Contains(s.Hash, s.Text[20:]) || s.Hash == Hash(s.Text+"x") {
		t.Error("the hash reveals the secret")
	}
}

// TestPasswordStrength shows which passwords are accepted.
func TestPasswordStrength(t *testing.T) {
	for _, bad := range []string{"", "short", "password", "password1", "12345678", "qwertyuiop", "iloveyou", "adalovelace", "formulary", "P@ssw0rd!", "Summer2024!", "elephant7", "abcabcabc", "aaaaaaaaaaaa", "Lovelace1815",
		"1q2w3e4r", "zyxwvuts", "passwordpassword", "Passwort123", "correcthorse", "Tr0ub4dor&3", "correct horse", "correcthorsebatterystaple", "CorrectHorse1", "Troubador1!", "Tr0ub4dor&3xyz", "violetanchor", "q1w2e3r4", "a1b2c3d4", "\xff\xfe\xfdabcdefgh", strings.Repeat("x", 257)} {
		if CheckPassword(bad, "adalovelace@example.com", "Ada Lovelace") == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	for _, good := range []string{"quiet-otter-paints-7-doors", "violet anchor", "kX9#mQ2v", "wolke tisch", strings.Repeat("lang genug ", 23), "密码很长而且没人猜得到的"} {
		if err := CheckPassword(good, "adalovelace@example.com"); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	// Random passwords do not look like words.
	for range 1_000 {
		if random := rand.Text()[:16]; CheckPassword(random) != nil {
			t.Fatalf("%q was rejected", random)
		}
	}
}

// TestHasher shows that hashes are verified at their own cost, that damaged hashes and
// unknown users are rejected, and that a caller stops waiting when its context ends.
func TestHasher(t *testing.T) {
	ctx := context.Background()
	h := NewHasher(1, DefaultHashCost)
	stored, err := h.Hash(ctx, "quiet-otter")
	if err != nil || !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("stored as %s (%v)", stored, err)
	}
	for password, want := range map[string]bool{"quiet-otter": true, "quiet-otte": false, "": false} {
		if got, err := h.Verify(ctx, stored, password); err != nil || got != want {
			t.Errorf("%q: %v (%v)", password, got, err)
		}
	}
	if got, err := h.Verify(ctx, "", "anything"); err != nil || got {
		t.Errorf("unknown user: %v (%v)", got, err)
	}
	for _, damaged := range []string{"nonsense", strings.Replace(stored, "v=19", "v=18", 1), strings.Replace(stored, "m=19456", "m=4000000000", 1), strings.Replace(stored, "t=2", "t=0", 1), stored + "$", strings.TrimRight(stored, "$")[:40]} {
		if _, err := h.Verify(ctx, damaged, "quiet-otter"); err == nil {
			t.Errorf("a damaged hash was accepted: %s", damaged)
		}
	}
	// A hash made at a lower cost.
	cheap, err := NewHasher(1, HashCost{MemoryKiB: 64, Passes: 1}).Hash(ctx, "quiet-otter")
	if err != nil || !strings.HasPrefix(cheap, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Fatalf("stored as %s (%v)", cheap, err)
	}
	if ok, err := h.Verify(ctx, cheap, "quiet-otter"); err != nil || !ok {
		t.Errorf("hash of another cost: %v (%v)", ok, err)
	}
	// The only slot is taken.
	h.slots <- struct{}{}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := h.Hash(canceled, "x"); err == nil {
		t.Error("a second hash ran although the only slot was taken")
	}
}

// TestEmails shows which email addresses are accepted, and which are equal.
func TestEmails(t *testing.T) {
	for _, good := range []string{"a@b", "Ada.Lovelace+x@Example.COM", "ü@exämple.org"} {
		if _, err := ParseEmail(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a", "@b", "a@", "a b@c", "Ada <a@b.c>", "a@b, c@d", "a@b\n", "a@[127.0.0.1]", `"a b"@c`, "a\x00@b", strings.Repeat("a", 250) + "@b.cc"} {
		got, err := ParseEmail(bad)
		if err != nil {
			continue
		}
		// Surrounding spaces are removed; everything else must be rejected.
		if trimmed := strings.TrimSpace(bad); got != trimmed || trimmed == bad {
			t.Errorf("%q was accepted as %q", bad, got)
		}
	}
	if EmailKey("ADA@Example.com") != EmailKey("ada@example.COM") || EmailKey("u\u0308@x") != EmailKey("Ü@x") {
		t.Error("letter case or normalization makes a different address")
	}
}

// FuzzScopes shows that ParseScopes returns known, distinct scopes of the text, or a name
// in the text that is unknown.
func FuzzScopes(f *testing.F) {
	for _, seed := range []string{"", ",", "forms:read", "forms:read,responses:read", "forms:read  forms:read", "forms:read,all", "FORMS:READ", "forms:read\t"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		scopes, unknown := ParseScopes(text)
		if unknown != "" {
			if scopes != nil || !strings.Contains(text, unknown) || DefaultScopes().Has(Scope(unknown)) {
				t.Fatalf("%q: %v, unknown %q", text, scopes, unknown)
			}
			return
		}
		for i, s := range scopes {
			if !DefaultScopes().Has(s) || slices.Contains(scopes[:i], s) || !strings.Contains(text, string(s)) {
				t.Fatalf("%q: %v", text, scopes)
			}
		}
		parsed, unknown := ParseScopes(scopes.String())
		if unknown != "" || !slices.Equal(parsed, scopes) {
			t.Fatalf("%q: %v formatted as %q was parsed as %v", text, scopes, scopes.String(), parsed)
		}
	})
}

// FuzzRedirect shows that a match means equality for applications with a secret, and
// equality except for the port of a loopback address for public ones.
func FuzzRedirect(f *testing.F) {
	for _, seed := range []string{
		"https://app.example.com/cb", "http://127.0.0.1/cb", "http://127.0.0.1:8080/cb", "http://[::1]:9/cb", "http://127.0.0.1:@evil/cb",
		"http://127.0.0.1:80/cb?x#y", "http://127.0.0.1:99999999/cb", "http://127.0.0.1", "http://127.0.0.1:1:2/cb", "http://[::1/cb",
	} {
		f.Add(seed, "http://127.0.0.1/cb")
		f.Add("http://127.0.0.1:1234/cb", seed)
	}
	f.Fuzz(func(t *testing.T, registered, uri string) {
		list := []string{registered}
		if RedirectMatches(list, uri, false) != (registered == uri) {
			t.Fatalf("%q against %q", uri, registered)
		}
		if !RedirectMatches(list, uri, true) || registered == uri {
			return
		}
		if CheckRedirectURI(registered, true) != nil {
			return // could not have been registered
		}
		a, errA := url.Parse(registered)
		b, errB := url.Parse(uri)
		if errA != nil || errB != nil {
			t.Fatalf("%q matches %q, but one of them is invalid: %v, %v", uri, registered, errA, errB)
		}
		for rule, ok := range map[string]bool{
			"both use http":      a.Scheme == "http" && b.Scheme == "http",
			"loopback address":   a.Hostname() == "127.0.0.1" || a.Hostname() == "::1",
			"same host":          a.Hostname() == b.Hostname(),
			"same path, query":   a.RequestURI() == b.RequestURI(),
			"same fragment":      a.Fragment == b.Fragment,
			"no user in the URI": b.User == nil,
		} {
			if !ok {
				t.Fatalf("%q matches %q, which breaks the rule %q", uri, registered, rule)
			}
		}
	})
}

// TestSessionLife shows when a session expires.
func TestSessionLife(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		created, used time.Duration // ago
		live          bool
	}{
		{0, 0, true},
		{SessionAbsolute - time.Hour, SessionIdle - time.Hour, true},
		{SessionAbsolute - time.Hour, SessionIdle, false},
		{SessionAbsolute, 0, false},
	} {
		s := Session{CreatedAt: now.Add(-c.created), UsedAt: now.Add(-c.used)}
		if s.IsLive(now) != c.live {
			t.Errorf("created %v and used %v ago: live is %v", c.created, c.used, s.IsLive(now))
		}
	}
}
