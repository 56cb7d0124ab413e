package web

import (
	"hash/fnv"
	"html/template"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/form"
)

// question is a field on the page, with what was answered so far.
type question struct {
	*form.Field
	Asks      string // the label, with earlier answers in it
	Hint      string // the help
	Prose     template.HTML
	Result    string // of what is calculated
	Choices   []choice
	Error     string
	Focus     bool
	Maybe     bool          // whether it is asked depends on answers
	Away      bool          // it is not asked now
	countries template.HTML // options of a list of all of them
	posted    url.Values
	chosen    map[string]map[string]bool // by the name of a control, what was sent for it
	words     catalog
}

type choice struct {
	form.Option
	Full bool
}

// Translate says something in the form's language.
func (q *question) Translate(text string, args ...any) string {
	return q.words.translate(text, args...)
}

// Text is the answer as text.
func (q *question) Text() string { return q.posted.Get(q.Key) }

// Part is the answer to a part of it, such as a row.
func (q *question) Part(name string) string { return q.posted.Get(q.Key + "." + name) }

// Chosen says whether an option is among the answers.
func (q *question) Chosen(value string) bool { return q.sent(q.Key, value) }

// ChosenIn says whether an option is among the answers of a row.
func (q *question) ChosenIn(row, value string) bool {
	return q.sent(q.Key+"."+row, value)
}

// sent says whether a value was sent for a control. A question with many options asks
// for each of them, so what was sent becomes a set.
func (q *question) sent(name, value string) bool {
	values := q.posted[name]
	if len(values) < 8 {
		return slices.Contains(values, value)
	}
	set := q.chosen[name]
	if set == nil {
		set = make(map[string]bool, len(values))
		for _, v := range values {
			set[v] = true
		}
		if q.chosen == nil {
			q.chosen = map[string]map[string]bool{}
		}
		q.chosen[name] = set
	}
	return set[value]
}

// None says whether a slider has no answer.
func (q *question) None() bool { return q.Part("none") != "" || q.Text() == "" }

// DescribedBy ties a control to its help and to what is wrong.
func (q *question) DescribedBy() string {
	var ids []string
	if q.Hint != "" {
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

// shortTextLength is how many characters are so few that people run out of them.
const shortTextLength = 500

// Limits says beforehand what would otherwise be refused.
func (q *question) Limits() string {
	number := func(n float64) string { return form.Decimal(n).Localize(q.words.word) }
	switch f, t := q.Field, q.Traits(); {
	case f.MinPicks != nil && f.MaxPicks != nil && *f.MinPicks == *f.MaxPicks:
		if *f.MinPicks == 1 {
			return q.words.translate("choose 1 option")
		}
		return q.words.translate("choose %d options", *f.MinPicks)
	case f.MinPicks != nil && f.MaxPicks != nil:
		return q.words.translate("choose %d to %d options", *f.MinPicks, *f.MaxPicks)
	case f.MinPicks != nil && *f.MinPicks > 1:
		return q.words.translate("choose at least %d options", *f.MinPicks)
	case f.MaxPicks != nil:
		if *f.MaxPicks == 1 {
			return q.words.translate("choose up to 1 option")
		}
		return q.words.translate("choose up to %d options", *f.MaxPicks)
	case t.Decimal && f.Min != nil && f.Max != nil:
		return q.words.translate("enter a number from %s to %s", number(*f.Min), number(*f.Max))
	case t.Decimal && f.Min != nil && *f.Min != 0:
		return q.words.translate("enter a number of %s or more", number(*f.Min))
	case t.Decimal && f.Max != nil:
		return q.words.translate("enter a number of %s or less", number(*f.Max))
	case t.Multiline && f.MaxLength != nil && *f.MaxLength <= shortTextLength:
		if *f.MaxLength == 1 {
			return q.words.translate("enter no more than 1 character")
		}
		return q.words.translate("enter no more than %d characters", *f.MaxLength)
	}
	return ""
}

// Number writes a limit as controls expect it.
func (q *question) Number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// Place numbers the places of a ranking from 1.
func (q *question) Place(i int) string { return strconv.Itoa(i + 1) }

// question prepares one field.
func (web *Handler) question(a *fillSession, field *form.Field, e form.Evaluation, pipes *form.Interpolator, full map[[2]string]bool, nonce string) (*question, error) {
	q := &question{
		Field: field, Asks: pipes.Text(field.Label, nil), Hint: pipes.Text(field.Help, nil), Error: a.problems[field.Key],
		Maybe: field.ShowIf != nil, Away: !e.Shown[field.Key], posted: a.in, words: a.words,
	}
	// To the first that is wrong, or else to the first that is new.
	q.Focus = q.Error != "" || a.seen != nil && !a.seen[field.Key]
	if field.Text != "" {
		var err error
		if text := pipes.Text(field.Text, quoteMarkdown); text == field.Text {
			q.Prose, err = web.markdown.renderCached(text)
		} else {
			q.Prose, err = web.markdown.render(text)
		}
		if err != nil {
			return nil, err
		}
	}
	if traits := field.Traits(); traits.Calculated {
		q.Result = a.formatAnswer(field, e.Answers[field.Key])
	} else if traits.Countries != nil {
		q.countries = web.languages.countryOptions(a.form.Header.Language)
	}
	for _, o := range field.Options {
		q.Choices = append(q.Choices, choice{o, full[[2]string{field.ID, o.Value}]})
	}
	if field.Shuffle {
		// The same person sees the same order on the way back.
		h := fnv.New64a()
		h.Write([]byte(nonce + field.Key))
		order := rand.New(rand.NewPCG(h.Sum64(), 0))
		order.Shuffle(len(q.Choices), func(i, j int) { q.Choices[i], q.Choices[j] = q.Choices[j], q.Choices[i] })
	}
	return q, nil
}

// Countries are the options of a list of all countries, of which one may be selected.
func (q *question) Countries(selected string) template.HTML {
	option := string(countryOption(selected))
	if selected == "" || !strings.Contains(string(q.countries), option) {
		return q.countries // whatever else was sent is not shown
	}
	return template.HTML(strings.Replace(string(q.countries), option, strings.TrimSuffix(option, ">")+" selected>", 1))
}
