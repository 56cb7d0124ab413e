package form

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Summary contains the totals of many responses. Responses can be added and subtracted,
// so it stays current without reading all of them again. Sums are exact.
type Summary struct {
	Format    int64                     `json:"format"` // value of summaryFormat
	Responses int64                     `json:"responses"`
	Days      map[string]int64          `json:"days"`   // number of responses by UTC day
	Fields    map[string]*QuestionStats `json:"fields"` // by field ID

	zone *time.Location // of the days; nil: UTC
	day  time.Time      // day of the last response added
	name string         // that day as text
}

// QuestionStats are the totals of one question.
type QuestionStats struct {
	Answered int64            `json:"answered"`
	Counts   map[string]int64 `json:"counts,omitempty"` // by value; for a matrix by row, tab and value
	Places   map[string]int64 `json:"places,omitempty"` // for a ranking: sum of the ranks by value
	Numbers  int64            `json:"numbers,omitempty"`
	Sum      *ExactSum        `json:"sum,omitempty"` // sum of the numeric answers
	Files    int64            `json:"files,omitempty"`
	Bytes    int64            `json:"bytes,omitempty"` // size of the files
}

// Average returns the average of the numeric answers.
func (t *QuestionStats) Average() float64 { return t.Sum.Div(t.Numbers) }

// AveragePosition returns the average rank of an option, where 1 is the first, among
// the responses that rank it.
func (t *QuestionStats) AveragePosition(value string) float64 {
	return float64(t.Places[value]) / float64(max(1, t.Counts[value]))
}

// OtherValue counts answers that are not among the options.
const OtherValue = otherValue

// summaryFormat changes whenever counting changes, so that stored summaries are
// rebuilt.
const summaryFormat = 2

// NewSummary returns an empty summary.
func NewSummary() *Summary {
	return &Summary{Format: summaryFormat, Days: map[string]int64{}, Fields: map[string]*QuestionStats{}}
}

// NewSummaryIn returns an empty summary whose days are those of a time zone. It is not
// stored.
func NewSummaryIn(zone *time.Location) *Summary {
	s := NewSummary()
	s.zone = zone
	return s
}

// dayOf returns the day of a time, at midnight UTC.
func (s *Summary) dayOf(t time.Time) time.Time {
	if s.zone == nil {
		return t.Truncate(24 * time.Hour)
	}
	year, month, day := t.In(s.zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// Add adds n times a response; n = -1 subtracts it.
func (s *Summary) Add(d *Definition, answers map[string]any, submitted time.Time, n int64) {
	s.Responses += n
	if day := s.dayOf(submitted); !day.Equal(s.day) { // most share the day of the one before
		s.day, s.name = day, day.UTC().Format(time.DateOnly)
	}
	count(s.Days, s.name, n)
	l := d.prepared()
	for i := range l.steps {
		f := &l.steps[i]
		answer, ok := answers[f.Key]
		if !ok {
			continue
		}
		t := s.Fields[f.ID]
		if t == nil {
			t = &QuestionStats{}
			s.Fields[f.ID] = t
		}
		t.add(f, answer, n)
		if t.Answered == 0 {
			delete(s.Fields, f.ID)
		}
	}
}

func (t *QuestionStats) add(f *step, answer any, n int64) {
	t.Answered += n
	if f.traits.Files {
		for _, file := range FilesOf(answer) {
			t.Files += n
			t.Bytes += n * file.Size
		}
	}
	how := f.traits.Summary
	if number, ok := answer.(float64); ok && how != CountOnly {
		if t.Sum == nil {
			t.Sum = &ExactSum{}
		}
		t.Sum.add(number, n)
		t.Numbers += n
	}
	if !how.CountsOptions() {
		return
	}
	if t.Counts == nil {
		t.Counts = map[string]int64{}
	}
	t.count(f.Field, "", answer, n)
}

func (t *QuestionStats) count(f *Field, row string, answer any, n int64) {
	switch a := answer.(type) {
	case string:
		if f.Other && !hasOption(f.Options, a) {
			a = OtherValue
		}
		count(t.Counts, row+a, n)
	case float64:
		count(t.Counts, row+formatNumber(a), n)
	case bool:
		count(t.Counts, row+map[bool]string{true: "true", false: "false"}[a], n)
	case []any:
		t.count(f, row, StringSlice(a), n)
	case []string:
		options, ordered := newLookup(f.Options, len(a)), f.Traits().Ordered
		for position, value := range a {
			if f.Other && options.find(value) < 0 {
				value = OtherValue
			}
			count(t.Counts, row+value, n)
			if ordered {
				if t.Places == nil {
					t.Places = map[string]int64{}
				}
				count(t.Places, value, n*int64(position+1))
			}
		}
	case map[string]any:
		for part, value := range a {
			t.count(f, part+"\t", value, n)
		}
	}
}

func count(counts map[string]int64, name string, n int64) {
	if counts[name] += n; counts[name] == 0 {
		delete(counts, name)
	}
}

// ExactSum is a sum without rounding: adding and subtracting the same number restores
// it.
type ExactSum struct {
	whole int64     // sum of integers, as long as it fits
	sum   big.Float // sum of all other numbers
}

// exactBits is enough precision for any sum of valid answers.
const exactBits = 1200

// maxWhole keeps the sum of integers far from overflowing.
const maxWhole = 1 << 40

func (x *ExactSum) add(number float64, n int64) {
	if w := int64(number); float64(w) == number && max(w, -w) < maxWhole && max(n, -n) < 1<<10 && max(x.whole, -x.whole) < 1<<60 {
		x.whole += w * n
		return
	}
	x.sum.SetPrec(exactBits)
	one := new(big.Float).SetPrec(exactBits).SetFloat64(number)
	x.sum.Add(&x.sum, one.Mul(one, new(big.Float).SetInt64(n)))
}

// Div returns the sum divided by n, as for an average.
func (x *ExactSum) Div(n int64) float64 {
	if x == nil || n == 0 {
		return 0
	}
	average, _ := new(big.Float).Quo(x.total(), new(big.Float).SetPrec(exactBits).SetInt64(n)).Float64()
	return average
}

// MarshalText encodes the sum without rounding.
func (x *ExactSum) MarshalText() ([]byte, error) { return []byte(x.total().Text('p', 0)), nil }

func (x *ExactSum) total() *big.Float {
	whole := new(big.Float).SetPrec(exactBits).SetInt64(x.whole)
	return whole.Add(whole, &x.sum)
}

// UnmarshalText decodes the output of MarshalText.
func (x *ExactSum) UnmarshalText(text []byte) error {
	x.whole = 0
	x.sum.SetPrec(exactBits)
	_, _, err := x.sum.Parse(string(text), 0)
	return err
}

// NPS returns the Net Promoter Score of a scale from 0 to 10: the percentage of 9 and
// 10 minus the percentage of 0 to 6. It is always given as a whole number.
func (t *QuestionStats) NPS() int64 {
	var promoters, detractors int64
	for value, n := range t.Counts {
		switch value {
		case "9", "10":
			promoters += n
		case "7", "8":
		default:
			detractors += n
		}
	}
	if t.Answered == 0 {
		return 0
	}
	return int64(math.Round(100 * float64(promoters-detractors) / float64(t.Answered)))
}

// IsNPS reports whether the answers have a Net Promoter Score.
func (f *Field) IsNPS() bool {
	return f.Traits().NPS && f.Min != nil && *f.Min == 0 && f.Max != nil && *f.Max == 10
}

// OptionCount is how often an option was chosen.
type OptionCount struct {
	Row, Value, Label string
	Count             int64
}

// OptionCounts returns the counts of a question in the order of its options, followed
// by values that are no longer options.
func OptionCounts(f *Field, t *QuestionStats) []OptionCount {
	if !f.Traits().Summary.CountsOptions() {
		return nil
	}
	var list []OptionCount
	seen := map[string]bool{}
	add := func(row, value, label string) {
		name := value
		if row != "" {
			name = row + "\t" + value
		}
		if !seen[name] {
			seen[name] = true
			list = append(list, OptionCount{row, value, label, t.Counts[name]})
		}
	}
	rows := f.Rows
	if rows == nil {
		rows = []Option{{}}
	}
	for _, row := range rows {
		for _, o := range optionsOf(f) {
			add(row.Value, o.Value, o.Label)
		}
	}
	if f.Other {
		add("", OtherValue, "Other")
	}
	for _, name := range slices.SortedFunc(maps.Keys(t.Counts), compareValues) {
		if row, value, ok := strings.Cut(name, "\t"); ok {
			add(row, value, optionLabel(f.Options, value))
		} else {
			add("", name, optionLabel(f.Options, name))
		}
	}
	return list
}

// FreeText returns the part of an answer that is not counted: a text, or text given
// instead of an option.
func (f *Field) FreeText(answer any) any {
	if f.Traits().Summary == CountOnly {
		return answer
	}
	var chosen []string
	switch a := answer.(type) {
	case string:
		chosen = []string{a}
	case []any:
		chosen = StringSlice(a)
	}
	if !f.Other {
		return nil
	}
	return slices.DeleteFunc(chosen, func(text string) bool { return hasOption(f.Options, text) })
}

// compareValues orders numbers by value, and other texts as text.
func compareValues(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(x, y)
}

// optionsOf returns the options of a field, including implied ones such as the numbers
// of a scale.
func optionsOf(f *Field) []Option {
	if options := f.Traits().Options; options != nil {
		return options(f)
	}
	return f.Options
}

// MergeQuestions returns the questions of the newest definition, followed by those that
// only earlier versions have.
func MergeQuestions(versions []*Definition) []*Field {
	var list []*Field
	seen := map[string]bool{}
	for i := len(versions) - 1; i >= 0; i-- {
		for _, f := range versions[i].Fields {
			if f.HasAnswer() && !seen[f.ID] {
				seen[f.ID] = true
				list = append(list, f)
			}
		}
	}
	return list
}
