package account

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// TestAppNames shows which names are accepted, and why others are rejected.
func TestAppNames(t *testing.T) {
	for _, good := range []string{
		"Café Müller", "Формы", "表单", "アンケート", "Google フォーム", "설문 조사", "Φόρμες", "نماذج", "طرح‌بندی", "हिन्दी क्‍ष", "טפסים", "แบบฟอร์ม", "Biểu mẫu",
		"Формы Online", "Forms & Co. (beta) 2.0", "Reports", "Form builder", "Formula 1 fan club", "ODK→CSV", "I ❤️ surveys", "Ünïcôdé", "X", "e\u0301te\u0301",
		"Support desk of Acme", "<script>alert(1)</script>",
	} {
		if err := CheckAppName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for want, bad := range map[error][]string{
		errReserved: {
			"Formulary", "formulary", "FORMULARY", "Formulary Support", "The Formulary team", "F0rmulary", "Formu1ary", "FormuIary", "Forrnulary", "F o r m u l a r y",
			"F-o-r-m-u-l-a-r-y", "Fórmülàry", "Ｆｏｒｍｕｌａｒｙ", "𝐅𝐨𝐫𝐦𝐮𝐥𝐚𝐫𝐲", "𝓕𝓸𝓻𝓶𝓾𝓵𝓪𝓻𝔂", "Ⓕⓞⓡⓜⓤⓛⓐⓡⓨ", "🅵🅾🆁🅼🆄🅻🅰🆁🆈", "ꜰᴏʀᴍᴜʟᴀʀʏ", "ꓝꓳꓣꓟꓴꓡꓮꓣꓬ", "ƒormulary", "Form|ulary", "Føɾmułary",
			"Formul@ry", "F⁰rmulary", "Admin", "SUPPORT", "Security", "$ystem",
		},
		errMixed: {"Fоrmulary", "Fοrmulary", "Gооgle", "Pаypal", "Яндекс-Forms", "Αpple", "表Формы"},
		errInvisible: {
			"", " ", "Form\u200bulary", "Formulary\u200b", "Form\u00adulary", "\u202eyralumroF", "Report\u2066s", "\ufeffReports", "Rep\u034forts", "Re\u3164ports", "\u2800", "Rep\u2060orts",
			"Reports\u00a0", "Rep\u200dorts", "Rep\ufe0forts", "Reports\U000e0041", "Rep\ue000orts", "Re\tports", "Z\u0300\u0301\u0302\u0303\u0304\u0305algo", "\u0301x", "a\x00b", "\xff",
		},
	} {
		for _, name := range bad {
			if got := CheckAppName(name); got != want {
				t.Errorf("%q: %v, want %v", name, got, want)
			}
		}
	}
}

// TestAppNamesWithInvisibleCharacters shows that a name with a zero-width character at any
// position is rejected.
func TestAppNamesWithInvisibleCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := []rune(rapid.SampledFrom([]string{"Formulary", "Reports", "Café"}).Draw(t, "name"))
		at := rapid.IntRange(0, len(name)).Draw(t, "at")
		hidden := rapid.SampledFrom([]rune{0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0xad, 0x61c, 0x200e, 0x180e}).Draw(t, "hidden")
		if altered := string(name[:at]) + string(hidden) + string(name[at:]); CheckAppName(altered) == nil {
			t.Fatalf("%q was accepted", altered)
		}
	})
}

// TestAppNamesThatLookLikeFormulary shows that any mix of look-alike characters of
// Formulary is rejected.
func TestAppNamesThatLookLikeFormulary(t *testing.T) {
	similar := map[rune][]rune{}
	for char, latin := range lookAlikes {
		similar[latin] = append(similar[latin], char)
	}
	rapid.Check(t, func(t *rapid.T) {
		var name strings.Builder
		for _, r := range "formulary" {
			name.WriteRune(rapid.SampledFrom(append(similar[r], r)).Draw(t, "letter"))
		}
		if CheckAppName(name.String()) == nil || !isReserved(name.String()) || !isReserved(norm.NFD.String(name.String())) {
			t.Fatalf("%q was accepted", name.String())
		}
	})
}

// FuzzAppName shows that an accepted name is a single line without the name Formulary.
func FuzzAppName(f *testing.F) {
	for _, seed := range []string{"Formulary", "Формы", "a\u200db", "\u0301", "🅵", strings.Repeat("x", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if CheckAppName(name) == nil && (strings.Contains(strings.ToLower(name), "formulary") || !IsSingleLine(name)) {
			t.Fatalf("%q was accepted", name)
		}
	})
}
