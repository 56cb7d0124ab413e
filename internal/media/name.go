package media

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxNameBytes      = 255
	maxExtensionBytes = 20
	// unnamed is the name of files whose name has no usable character.
	unnamed = "file"
)

// CleanName returns a name that is safe to show, to download and to put into an archive:
// at most 255 bytes of UTF-8 in one line, without folders, control characters and
// characters that change the direction of text, and never empty. Clean names stay as they
// are.
func CleanName(name string) string {
	name = strings.ToValidUTF8(name, "_")
	name = name[strings.LastIndexAny(strings.TrimRight(name, `/\`), `/\`)+1:]
	name = norm.NFC.String(strings.Map(cleanRune, name))
	name = strings.TrimSpace(truncateName(strings.TrimSpace(name)))
	// Names of dots are folders; Windows removes dots and spaces at the end.
	if name = strings.TrimRight(name, ". "); name == "" || !strings.ContainsFunc(name, isVisible) {
		return unnamed
	}
	return name
}

// Two joiners are letters of some scripts, so they stay, though they are invisible.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// cleanRune returns the character to use instead of r, or -1 for none.
func cleanRune(r rune) rune {
	switch {
	case r == '/' || r == '\\':
		return -1
	case r == zeroWidthNonJoiner || r == zeroWidthJoiner:
		return r
	case unicode.IsSpace(r):
		return ' '
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
		return -1
	}
	return r
}

func isVisible(r rune) bool {
	return r != ' ' && r != zeroWidthNonJoiner && r != zeroWidthJoiner
}

// truncateName shortens a name and keeps its extension.
func truncateName(name string) string {
	if len(name) <= maxNameBytes {
		return name
	}
	extension := path.Ext(name)
	if len(extension) > maxExtensionBytes {
		extension = ""
	}
	end := maxNameBytes - len(extension)
	for end > 0 && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + extension
}

// devices are names that Windows gives to devices, with any extension and in any case.
var devices = map[string]bool{"con": true, "prn": true, "aux": true, "nul": true, "conin$": true, "conout$": true}

// FileName returns the name under which every system can save a file: that of CleanName without
// characters and names that Windows reserves.
func FileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"|?*`, r) {
			return '_'
		}
		return r
	}, CleanName(name))
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	stem = strings.TrimRight(stem, " ")
	port, isPort := strings.CutPrefix(stem, "com")
	if !isPort {
		port, isPort = strings.CutPrefix(stem, "lpt")
	}
	isPort = isPort && port != "" && strings.Contains("0123456789¹²³", port) && utf8.RuneCountInString(port) == 1
	if devices[stem] || isPort {
		name = truncateName("_" + name)
	}
	return name
}

// ContentDisposition returns the header that makes browsers save a file under its name.
// It has both forms of RFC 6266: older clients read only the ASCII one.
func ContentDisposition(name string) string {
	name = FileName(name)
	var ascii, encoded strings.Builder
	for _, r := range name {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%`, r) {
			r = '_'
		}
		ascii.WriteRune(r)
	}
	for _, c := range []byte(name) {
		if isAttributeChar(c) {
			encoded.WriteByte(c)
		} else {
			fmt.Fprintf(&encoded, "%%%02X", c)
		}
	}
	return `attachment; filename="` + ascii.String() + `"; filename*=UTF-8''` + encoded.String()
}

// isAttributeChar reports whether RFC 8187 allows c without encoding.
func isAttributeChar(c byte) bool {
	isLetter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	return isLetter || c >= '0' && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0
}
