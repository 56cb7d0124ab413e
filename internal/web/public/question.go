package public

import (
	"hash/fnv"
	"html/template"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/form"
	"formulary/internal/locale"
	"formulary/internal/markdown"
)

// question is a field on the page, with the answer so far.
type question struct {
	*form.Field
	LabelText   string // with answers inserted
	HelpText    string
	Prose       template.HTML
	Result      string // of a calculation
	Choices     []choice
	Error       string
	Focus       bool
	Conditional bool   // shown only for some answers
	NotShown    bool   // for the answers so far
	uploadTo    string // see UploadTo
	fileRules   form.FileRules
	countries   template.HTML // options of a list of all countries
	// For telephone numbers, see phone.go.
	phoneCountries []locale.Country
	listsCountries bool
	EnterAction    string // of the button that the key Enter presses
	values         url.Values
	selected       map[string]map[string]bool // values of a control as a set, by its name
	catalog        locale.Catalog
	language       string // of the form
}

type choice struct {
	form.Option
	Full bool // its limit is reached
}

// Translate translates a text into the form's language.
func (q *question) Translate(text string, args ...any) string {
	return q.catalog.Translate(text, args...)
}

// Text is the answer as text.
func (q *question) Text() string { return q.values.Get(q.Key) }

// Price is the price of an option in the form's language.
func (q *question) Price(o form.Option) string { return q.FormatPrice(o, q.catalog.Lookup) }

// Part is the answer to a part of the question, such as a row.
func (q *question) Part(name string) string { return q.values.Get(q.Key + "." + name) }

// Chosen reports whether an option is selected.
func (q *question) Chosen(value string) bool { return q.isSelected(q.Key, value) }

// ChosenIn reports whether an option is selected in a row.
func (q *question) ChosenIn(row, value string) bool {
	return q.isSelected(q.Key+"."+row, value)
}

// isSelected reports whether a control has a value. It is called for each option of a
// question, so many values become a set.
func (q *question) isSelected(name, value string) bool {
	values := q.values[name]
	if len(values) < 8 {
		return slices.Contains(values, value)
	}
	set := q.selected[name]
	if set == nil {
		set = make(map[string]bool, len(values))
		for _, posted := range values {
			set[posted] = true
		}
		if q.selected == nil {
			q.selected = map[string]map[string]bool{}
		}
		q.selected[name] = set
	}
	return set[value]
}

// None reports whether a slider has no answer.
func (q *question) None() bool { return q.Part("none") != "" || q.Text() == "" }

// DescribedBy lists the IDs of the texts that describe a control: help, limits, problem.
func (q *question) DescribedBy() string {
	var ids []string
	if q.HelpText != "" {
		ids = append(ids, "help-"+q.Key)
	}
	if q.Limits() != "" {
		ids = append(ids, "limits-"+q.Key)
	}
	if q.Error != "" {
		ids = append(ids, "problem-"+q.Key)
	}
	return strings.Join(ids, " ")
}

// shortTextLength is the largest limit that a page mentions: respondents do not reach
// larger ones.
const shortTextLength = 500

// Limits describes which answers are valid.
func (q *question) Limits() string {
	number := func(n float64) string { return form.Decimal(n).Localize(q.catalog) }
	switch f, t := q.Field, q.Traits(); {
	case f.MinPicks != nil && f.MaxPicks != nil && *f.MinPicks == *f.MaxPicks:
		if *f.MinPicks == 1 {
			return q.catalog.Translate("choose 1 option")
		}
		return q.catalog.Translate("choose %d options", *f.MinPicks)
	case f.MinPicks != nil && f.MaxPicks != nil:
		return q.catalog.Translate("choose %d to %d options", *f.MinPicks, *f.MaxPicks)
	case f.MinPicks != nil && *f.MinPicks > 1:
		return q.catalog.Translate("choose at least %d options", *f.MinPicks)
	case f.MaxPicks != nil:
		if *f.MaxPicks == 1 {
			return q.catalog.Translate("choose up to 1 option")
		}
		return q.catalog.Translate("choose up to %d options", *f.MaxPicks)
	case t.Files && t.List:
		return q.fileLimits()
	case t.Decimal && f.Min != nil && f.Max != nil:
		return q.catalog.Translate("enter a number from %s to %s", number(*f.Min), number(*f.Max))
	case t.Decimal && f.Min != nil && *f.Min != 0:
		return q.catalog.Translate("enter a number of %s or more", number(*f.Min))
	case t.Decimal && f.Max != nil:
		return q.catalog.Translate("enter a number of %s or less", number(*f.Max))
	case t.Multiline && f.MaxLength != nil && *f.MaxLength <= shortTextLength:
		if *f.MaxLength == 1 {
			return q.catalog.Translate("enter no more than 1 character")
		}
		return q.catalog.Translate("enter no more than %d characters", *f.MaxLength)
	}
	return ""
}

// Number formats a limit for an HTML attribute.
func (q *question) Number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// questionContext is what the questions of a page share.
type questionContext struct {
	session    *fillSession
	evaluation form.Evaluation
	texts      *form.Interpolator
	left       map[[2]string]int64 // how often options with a limit can be chosen, by field ID and value
	nonce      string
}

func (pages *Pages) newQuestion(field *form.Field, c *questionContext) (*question, error) {
	s := c.session
	q := &question{
		Field: field, LabelText: c.texts.Text(field.Label, nil), HelpText: c.texts.Text(field.Help, nil), Error: s.problems[field.Key],
		Conditional: field.ShowIf != nil, NotShown: !c.evaluation.Shown[field.Key], values: s.values, catalog: s.catalog, language: s.form.Header.Language,
	}
	// Questions with a problem want the focus, and those that have just appeared.
	q.Focus = q.Error != "" || s.shown != nil && !s.shown[field.Key]
	if field.Text != "" {
		var err error
		if text := c.texts.Text(field.Text, markdown.Quote); text == field.Text {
			q.Prose, err = pages.markdown.RenderCached(text)
		} else {
			q.Prose, err = pages.markdown.Render(text)
		}
		if err != nil {
			return nil, err
		}
	}
	if traits := field.Traits(); traits.Files {
		q.uploadTo = s.uploadTo(field)
		q.fileRules, _ = pages.fileRules(field)
	} else if traits.Calculated {
		q.Result = s.formatAnswer(field, c.evaluation.Answers[field.Key])
	} else if isPhone(field) {
		q.phoneCountries = pages.Site.Languages.Countries(s.form.Header.Language)
		q.listsCountries = s.listCountries || q.Error != "" || s.values.Has(phoneCountry(field.Key))
	} else if traits.Countries != nil {
		q.countries = template.HTML(pages.Site.Languages.CountryOptions(s.form.Header.Language))
	}
	for _, o := range field.Options {
		left, isLimited := c.left[[2]string{field.ID, o.Value}]
		if isLimited && left > 0 {
			o.Label += " (" + s.catalog.Translate("%d left", left) + ")"
		}
		q.Choices = append(q.Choices, choice{o, isLimited && left == 0})
	}
	if field.Shuffle {
		// The nonce is the seed, so that a respondent who goes back sees the same order.
		hash := fnv.New64a()
		hash.Write([]byte(c.nonce + field.Key))
		order := rand.New(rand.NewPCG(hash.Sum64(), 0))
		order.Shuffle(len(q.Choices), func(i, j int) { q.Choices[i], q.Choices[j] = q.Choices[j], q.Choices[i] })
	}
	return q, nil
}

// Countries are the options of a list of all countries. An unknown country is not shown.
func (q *question) Countries(selected string) template.HTML {
	option := locale.CountryOption(selected)
	if selected == "" || !strings.Contains(string(q.countries), option) {
		return q.countries
	}
	return template.HTML(strings.Replace(string(q.countries), option, strings.TrimSuffix(option, ">")+" selected>", 1))
}
