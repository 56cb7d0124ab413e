package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// A page that was open during the rotation of the key can still be submitted, without a
// restart; a forged signature cannot.
func TestKeyRotate(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}]}`)
		b, path := s.Browser(), "/f/"+id
		nonce := func() string {
			return regexp.MustCompile(`name="_key" value="([^"]+)"`).FindStringSubmatch(b.Get(path).Text)[1]
		}
		before := nonce()
		if out := s.Command("", "key", "rotate"); !strings.Contains(out, "New signing key") {
			t.Errorf("rotate says %s", out)
		}
		sent := func(nonce string) clitest.Page {
			return b.Post(path, url.Values{"a": {"x"}, "_shown": {"a"}, "_key": {nonce}})
		}
		if p := sent(before); p.StatusCode != 303 {
			t.Errorf("a page from before the rotation: %d\n%s", p.StatusCode, p.Text)
		}
		after := nonce()
		if p := sent(after); p.StatusCode != 303 {
			t.Errorf("a page from after the rotation: %d\n%s", p.StatusCode, p.Text)
		}
		if p := sent(after[:len(after)-4] + "AAAA"); p.StatusCode == 303 {
			t.Error("a made-up signature passed")
		}
		// After a second rotation the first key is no longer valid.
		s.Command("", "key", "rotate")
		if !clitest.WaitFor(func() bool { return sent(before).StatusCode != 303 }) {
			t.Error("the key before the previous one still verifies")
		}
	})
}
