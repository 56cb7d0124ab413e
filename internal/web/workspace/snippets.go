package workspace

import (
	_ "embed"
	"strings"
)

// snippet is code that verifies the signature of a webhook.
type snippet struct{ Language, Code string }

var (
	//go:embed snippets/verify.go.txt
	verifyGo string
	//go:embed snippets/verify.js
	verifyJavaScript string
	//go:embed snippets/verify.py
	verifyPython string
)

var snippets = []snippet{
	{"Go", strings.TrimSpace(verifyGo)}, {"JavaScript", strings.TrimSpace(verifyJavaScript)}, {"Python", strings.TrimSpace(verifyPython)},
}
