package account_test

import (
	"errors"
	"strings"
	"testing"

	"formulary/internal/account"
)

func TestSealer(t *testing.T) {
	t.Parallel()
	if _, err := account.NewSealer("short"); err == nil {
		t.Error("a short key was accepted")
	}
	text := account.NewKeyText()
	s, err := account.NewSealer(text)
	if err != nil {
		t.Fatal(err)
	}
	sealed := s.Seal("whsec_1", "whk_1")
	if strings.Contains(sealed, "whsec") || sealed == s.Seal("whsec_1", "whk_1") {
		t.Errorf("sealed: %s", sealed)
	}
	same, err := account.NewSealer(text)
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := same.Open(sealed, "whk_1"); err != nil || opened != "whsec_1" {
		t.Errorf("opened: %q %v", opened, err)
	}
	if _, err := s.Open(sealed, "whk_2"); err == nil {
		t.Error("it was opened as the secret of another webhook")
	}
	for _, bad := range []string{"", "s1", "s1..", "s2" + sealed[2:], sealed[:len(sealed)-3], sealed + "!"} {
		if _, err := s.Open(bad, "whk_1"); err == nil {
			t.Errorf("%q was opened", bad)
		}
	}
	other, err := account.NewSealer(account.NewKeyText())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Open(sealed, "whk_1"); !errors.Is(err, account.ErrOtherKey) {
		t.Errorf("with another key: %v", err)
	}
}
