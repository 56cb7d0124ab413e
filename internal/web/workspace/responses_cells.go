package workspace

import (
	"strconv"
	"strings"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

const (
	maxCell      = 120 // characters in a table
	maxCellFiles = 3   // pictures in a cell
)

// cellText formats a value in the language of the user and shortens it.
func (pages *Pages) cellText(req *page.Request, cell any) string {
	switch c := cell.(type) {
	case string:
		if cut := []rune(c); len(cut) > maxCell {
			return string(cut[:maxCell]) + "…"
		}
		return c
	case float64:
		return strings.Replace(strconv.FormatFloat(c, 'f', -1, 64), ".", pages.Site.TranslateFor(req, "."), 1)
	case bool:
		if c {
			return pages.Site.TranslateFor(req, "Yes")
		}
		return pages.Site.TranslateFor(req, "No")
	}
	return ""
}

// formatAnswer formats an answer in the language of the user.
func (pages *Pages) formatAnswer(req *page.Request, f *form.Field, answer any) string {
	return f.FormatAnswer(pages.Site.Languages.WithCountryNames(req.Language(), f, answer), func(text string) string { return pages.Site.TranslateFor(req, text) })
}

// countryName returns the name of a country if the question asks for one.
func (pages *Pages) countryName(req *page.Request, f *form.Field, code string) string {
	if f == nil || !f.HasCountry("") {
		return code
	}
	return pages.Site.Languages.CountryName(req.Language(), code)
}

// cell formats an answer for the table.
func (pages *Pages) cell(req *page.Request, c form.Column, f *form.Field, answers map[string]any, rows map[string]store.File) responseCell {
	if f != nil && f.Traits().DisplayLayout != "" {
		return responseCell{Text: pages.formatAnswer(req, f, answers[f.Key])}
	}
	cell := responseCell{Text: pages.countryName(req, f, pages.cellText(req, c.Cell(f, answers, true)))}
	if f == nil || !f.Traits().Files {
		return cell
	}
	files := pages.shownFiles(req, answers[f.Key], rows)
	cell.Files = files[:min(len(files), maxCellFiles)]
	return cell
}
