package form

import "testing"

func TestLanguages(t *testing.T) {
	for text, want := range map[string]string{
		"en": "en", "EN": "en", "pt-br": "pt-BR", "zh-hant-tw": "zh-Hant-TW", "ar": "ar", "sr-Latn": "sr-Latn",
		"": "", "xx-nonsense": "", "english": "", "en_US": "", "und": "", "e": "", "qq": "", "en-": "", "en-XX-": "",
	} {
		got, ok := ParseLanguage(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q, %v", text, got, ok)
		}
	}
}
