package locale

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The script and the page without scripts offer the same countries.
func TestCallingCodes(t *testing.T) {
	script, err := os.ReadFile("../web/page/static/phone.js")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(script), "`"+callingCodes+"`") {
		t.Error("phone.js has other calling codes")
	}
	for country, want := range map[string]string{"DE": "49", "US": "1", "JM": "1876", "de": "", "": ""} {
		if got := CallingCode(country); got != want {
			t.Errorf("%q has the code %q, want %q", country, got, want)
		}
	}
}

// A number of a country becomes an international one. The script is tested with the same cases.
func TestInternationalNumber(t *testing.T) {
	text, err := os.ReadFile("testdata/numbers.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Country, Typed, Want string }
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range cases {
		if got := InternationalNumber(c.Country, c.Typed); got != c.Want {
			t.Errorf("%s in %q is %s, want %s", c.Typed, c.Country, got, c.Want)
		}
	}
}
