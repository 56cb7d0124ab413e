package identity

import (
	"strings"

	"formulary/internal/form"
	"formulary/internal/locale"
	"formulary/internal/web/page"
)

// languageChoice is a language that people can search by its own name, its name in the
// language of the page and its tag.
type languageChoice struct {
	Value   string // such as "Deutsch (de)"
	English string
}

// englishNames has the English names of the languages of locale.FormLanguages.
var englishNames = map[string]string{
	"en": "English", "de": "German", "fr": "French", "es": "Spanish", "pt": "Portuguese", "tr": "Turkish", "ar": "Arabic",
}

func languageChoices() []languageChoice {
	var list []languageChoice
	for _, l := range locale.FormLanguages {
		list = append(list, languageChoice{languageName(l[0]), englishNames[l[0]]})
	}
	return list
}

// languageName is how the page shows a language: with its name if it is known.
func languageName(tag string) string {
	for _, l := range locale.FormLanguages {
		if l[0] == tag {
			return l[1] + " (" + tag + ")"
		}
	}
	return tag
}

// findLanguage returns the tag of a language that was chosen or typed: a tag, a name, or both
// as in "Deutsch (de)".
func findLanguage(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if i := strings.LastIndex(text, "("); i >= 0 && strings.HasSuffix(text, ")") {
		text = text[i+1 : len(text)-1]
	}
	for _, l := range locale.FormLanguages {
		if strings.EqualFold(text, l[1]) || strings.EqualFold(text, englishNames[l[0]]) {
			return l[0], true
		}
	}
	return form.ParseLanguage(text)
}

// commonZones are suggestions; users can enter any zone of the IANA database.
var commonZones = []string{
	"UTC", "Europe/London", "Europe/Lisbon", "Europe/Berlin", "Europe/Paris", "Europe/Madrid", "Europe/Vienna", "Europe/Zurich", "Europe/Istanbul",
	"Africa/Cairo", "Asia/Riyadh", "Asia/Dubai", "Asia/Kolkata", "Asia/Shanghai", "Asia/Tokyo", "Australia/Sydney",
	"America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Mexico_City", "America/Bogota", "America/Sao_Paulo",
}

// findZone returns the time zone that was chosen or typed: its name, or the city of a common
// one. The empty text is UTC.
func findZone(text string) (string, bool) {
	text = strings.ReplaceAll(strings.TrimSpace(text), " ", "_")
	for _, zone := range commonZones {
		if strings.EqualFold(text, zone) || strings.EqualFold(text, zone[strings.LastIndexByte(zone, '/')+1:]) {
			return zone, true
		}
	}
	return text, page.IsZone(text)
}
