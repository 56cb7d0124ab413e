package workspace

import (
	"net/url"
	"regexp"
	"strings"

	"formulary/internal/form"
	"formulary/internal/web/page"
)

// prefillQuestion is a question whose answer the link can carry.
type prefillQuestion struct {
	Key     string
	Label   string
	Options []form.Option
	Type    string // of its control; empty: text
	Min     *float64
	Max     *float64
	Step    *float64
}

// bareReference is a reference to an answer without a text in its place.
var bareReference = regexp.MustCompile(`\{\{\s*([a-z][a-z0-9_]*)\s*\}\}`)

// textBeforeAnswers is a text of the form as respondents see it before they answer, with an
// ellipsis for answers without a text in their place.
func textBeforeAnswers(d *form.Definition, text string) string {
	return d.Interpolate(bareReference.ReplaceAllString(text, "{{$1|…}}"), func(*form.Field, string) string { return "" })
}

func (pages *Pages) newPrefillQuestion(req *page.Request, d *form.Definition, f *form.Field) prefillQuestion {
	p := prefillQuestion{Key: f.Key, Label: textBeforeAnswers(d, f.Label), Options: f.Options}
	p.Type = f.Traits().Input
	switch {
	case f.IsBoolean():
		p.Options = []form.Option{{Value: "true", Label: pages.Site.TranslateFor(req, "Yes")}, {Value: "false", Label: pages.Site.TranslateFor(req, "No")}}
	case f.HasCountry(""):
		for _, c := range pages.Site.Languages.Countries(req.Language()) {
			p.Options = append(p.Options, form.Option{Value: c.Code, Label: c.Name})
		}
	case f.IsNumeric():
		p.Type = "number"
		p.Min, p.Max, p.Step = f.Min, f.Max, f.Step
	}
	return p
}

// PrefilledLink redirects to the form with the given answers, for browsers without
// JavaScript.
func (pages *Pages) PrefilledLink(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	answers := url.Values{}
	for name, values := range req.URL.Query() {
		if values[0] != "" {
			answers[name] = values
		}
	}
	return req.Redirect(strings.TrimPrefix(pages.newFormLayout(f, "").Link, pages.Site.BaseURL) + "?" + answers.Encode())
}
