package account_test

import (
	"strings"
	"testing"

	"formulary/internal/account"
)

// Members decide by the name of a space what they share with whom.
func TestParseSpaceName(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"Team":                             true,
		"  Marketing 📣 ":                   true,
		"צוות השיווק":                      true,
		"=HYPERLINK(\"//x\")":              true, // the CSV file escapes it
		"<script>alert(1)</script>":        true, // so do pages
		"":                                 false,
		" ":                                false,
		"\u200b":                           false,
		"\u3164":                           false,
		"Team\u202egnp.exe":                false,
		"Team\u2067":                       false,
		"Team\r\nBcc: x@example.com":       false,
		"Team\x00":                         false,
		"\xff":                             false,
		strings.Repeat("ä", 60):            true,
		strings.Repeat("ä", 61):            false,
		strings.Repeat("x", 64<<10):        false,
		"Z" + strings.Repeat("\u0301", 20): false,
	} {
		if _, err := account.ParseSpaceName(name); (err == nil) != valid {
			t.Errorf("%.40q: %v", name, err)
		}
	}
	for name, valid := range map[string]bool{"Ada": true, "": true, "Ada\u202e": false, "Ada\nX-Header: 1": false} {
		if _, err := account.ParseName(name); (err == nil) != valid {
			t.Errorf("person %q: %v", name, err)
		}
	}
}
