package locale

import (
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
