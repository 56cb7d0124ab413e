package web

import (
	"strconv"
	"strings"

	"formulary/internal/form"
)

const maxCell = 120 // characters that a table shows

func (web *Web) cellText(v *visit, cell any) string {
	switch c := cell.(type) {
	case string:
		if cut := []rune(c); len(cut) > maxCell {
			return string(cut[:maxCell]) + "…"
		}
		return c
	case float64:
		return strings.Replace(strconv.FormatFloat(c, 'f', -1, 64), ".", web.say(v, "."), 1)
	case bool:
		if c {
			return web.say(v, "Yes")
		}
		return web.say(v, "No")
	}
	return ""
}

// tell is an answer as people would say it, in the language of who looks.
func (web *Web) tell(v *visit, f *form.Field, answer any) string {
	return f.Say(web.languages.named(web.viewerLanguage(v), f, answer), func(word string) string { return web.say(v, word) })
}

// countryName is a country in the language of who looks; f says whether it is one.
func (web *Web) countryName(v *visit, f *form.Field, code string) string {
	if f == nil || f.Kind != "country" {
		return code
	}
	return web.languages.country(web.viewerLanguage(v), code)
}

// meant is the answer that somebody means who writes what the table shows.
func (web *Web) meant(v *visit, fields []*form.Field, where, is string) string {
	key, _, _ := strings.Cut(where, ".")
	same := func(shown string) bool { return form.Fold(shown) == form.Fold(strings.TrimSpace(is)) }
	for _, f := range fields {
		if f.Key != key {
			continue
		}
		for _, o := range f.Options {
			if same(o.Label) {
				return o.Value
			}
		}
		switch f.Kind {
		case "yes_no", "consent":
			for _, answer := range []bool{true, false} {
				if same(web.cellText(v, answer)) {
					return strconv.FormatBool(answer)
				}
			}
		case "number", "slider", "calculated":
			return strings.Replace(is, web.say(v, "."), ".", 1)
		case "country":
			for _, c := range web.languages.countriesIn(web.viewerLanguage(v)) {
				if same(c.Value) {
					return c.Name
				}
			}
		}
	}
	return is
}
