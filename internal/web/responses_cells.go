package web

import (
	"strconv"
	"strings"

	"formulary/internal/form"
)

const maxCell = 120 // characters that a table shows

func (web *Handler) cellText(v *pageRequest, cell any) string {
	switch c := cell.(type) {
	case string:
		if cut := []rune(c); len(cut) > maxCell {
			return string(cut[:maxCell]) + "…"
		}
		return c
	case float64:
		return strings.Replace(strconv.FormatFloat(c, 'f', -1, 64), ".", web.translateFor(v, "."), 1)
	case bool:
		if c {
			return web.translateFor(v, "Yes")
		}
		return web.translateFor(v, "No")
	}
	return ""
}

// formatAnswer is an answer as people would say it, in the language of who looks.
func (web *Handler) formatAnswer(v *pageRequest, f *form.Field, answer any) string {
	return f.FormatAnswer(web.languages.named(web.viewerLanguage(v), f, answer), func(word string) string { return web.translateFor(v, word) })
}

// countryName is a country in the language of who looks; f says whether it is one.
func (web *Handler) countryName(v *pageRequest, f *form.Field, code string) string {
	if f == nil || !f.HasCountry("") {
		return code
	}
	return web.languages.country(web.viewerLanguage(v), code)
}

// cell is an answer as the table shows it.
func (web *Handler) cell(v *pageRequest, c form.Column, f *form.Field, answers map[string]any) string {
	if f != nil && f.Traits().DisplayLayout != "" {
		return web.formatAnswer(v, f, answers[f.Key])
	}
	return web.countryName(v, f, web.cellText(v, c.Cell(f, answers, true)))
}
