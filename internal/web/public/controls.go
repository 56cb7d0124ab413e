package public

import (
	"slices"
	"strings"
	"unicode/utf8"

	"formulary/internal/form"
)

// datePart is one of the fields of a date.
type datePart struct {
	Name   string
	Label  string
	Value  string
	Length int
}

// Dates start with the year in some languages, and with the month in some regions.
var (
	yearFirst  = []string{"eu", "hu", "ja", "ko", "lt", "mn", "sv", "zh"}
	monthFirst = []string{"en-PH", "en-US", "es-US", "fil"}
)

// DateParts are the fields of a date in the order of the form's language. A native date
// field would have the order of the browser's language, see docs/decisions/dates.md.
func (q *question) DateParts() []datePart {
	date, _, _ := strings.Cut(q.Text(), "T")
	stored := strings.Split(date, "-")
	names := []string{"day", "month", "year"}
	base, _, _ := strings.Cut(q.language, "-")
	switch {
	case slices.Contains(yearFirst, base):
		names = form.DateParts
	case slices.Contains(monthFirst, q.language):
		names = []string{"month", "day", "year"}
	}
	labels := map[string]string{"year": q.catalog.Translate("Year"), "month": q.catalog.Translate("Month"), "day": q.catalog.Translate("Day")}
	var list []datePart
	for _, name := range names {
		part := datePart{Name: name, Label: labels[name], Value: q.Part(name), Length: 2}
		if name == "year" {
			part.Length = 4
		}
		if at := slices.Index(form.DateParts, name); part.Value == "" && len(stored) == len(form.DateParts) {
			part.Value = stored[at]
		}
		list = append(list, part)
	}
	return list
}

// TimePart is the time of a date with a time.
func (q *question) TimePart() string {
	if _, clock, ok := strings.Cut(q.Text(), "T"); ok {
		return clock
	}
	return q.Part("time")
}

// maxSegmentWord is the longest word, in letters, that fits into a segment on a phone, by
// the number of segments.
var maxSegmentWord = map[int]int{1: 30, 2: 15, 3: 12, 4: 9, 5: 7}

// Segments reports whether the columns of a matrix fit side by side on a phone.
func (q *question) Segments() bool {
	for _, column := range q.Options {
		for word := range strings.FieldsSeq(column.Label) {
			if utf8.RuneCountInString(word) > maxSegmentWord[len(q.Options)] {
				return false
			}
		}
	}
	return len(q.Options) <= len(maxSegmentWord)
}

// RankingTexts are the texts of the script that ranks options, as JSON.
func (q *question) RankingTexts() (string, error) {
	c := q.catalog
	return jsonText(map[string]string{
		"hint": c.Translate("Drag the options, tap them in order, or use the arrows."), "up": c.Translate("Move {name} up"), "down": c.Translate("Move {name} down"),
		"placed": c.Translate("{name}: rank {place} of {count}"), "clear": c.Translate("Clear ranking"), "cleared": c.Translate("Ranking cleared"),
	})
}
