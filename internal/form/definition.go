package form

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"formulary/internal/fault"
)

// Limits of a definition.
const (
	MaxFields     = 500
	MaxOptions    = 1000
	MaxDefinition = 256 << 10 // bytes as JSON
	maxLabel      = 1000
	maxHelp       = 2000
	maxStatement  = 20_000
	maxValue      = 200
)

// Definition is the content of a form: questions, endings and settings.
type Definition struct {
	Fields   []*Field  `json:"fields" nullable:"false" maxItems:"500" doc:"The questions, in order"`
	Endings  []*Ending `json:"endings,omitempty" nullable:"false" maxItems:"50" doc:"The pages respondents see after submitting"`
	Settings Settings  `json:"settings,omitzero"`
	Design   Design    `json:"design,omitzero" doc:"How the form looks"`

	// Unfinished is set in drafts with mistakes, never in versions.
	Unfinished *Unfinished `json:"unfinished,omitempty"`

	logic logic
}

// Field is a question, a statement or a page break. Its kind decides which of the
// properties after show_if apply; setting any other is an error, so that mistakes are
// not silently dropped.
type Field struct {
	ID       string     `json:"id,omitempty" doc:"ID set by Formulary; does not change when the key does"`
	Key      string     `json:"key,omitempty" pattern:"^[a-z][a-z0-9_]{0,63}$" doc:"Identifies the field in answers; derived from the label if omitted" example:"drink"`
	Kind     string     `json:"kind" doc:"Question type" example:"short_text"`
	Label    string     `json:"label,omitempty" maxLength:"1000" doc:"Question text" example:"Which drink?"`
	Help     string     `json:"help,omitempty" maxLength:"2000" doc:"Help text shown below the question"`
	Required bool       `json:"required,omitempty" example:"true"`
	Default  any        `json:"default,omitempty" doc:"Default answer"`
	ShowIf   *Condition `json:"show_if,omitempty" doc:"Condition for showing the question; always shown if omitted"`
	Jumps    []*Jump    `json:"jumps,omitempty" nullable:"false" maxItems:"50" doc:"Jumps: where respondents go after this page instead of the next one"`

	Placeholder string   `json:"placeholder,omitempty" maxLength:"200"`
	MinLength   *int     `json:"min_length,omitempty"`
	MaxLength   *int     `json:"max_length,omitempty"`
	Min         *float64 `json:"min,omitempty"`
	Max         *float64 `json:"max,omitempty"`
	Step        *float64 `json:"step,omitempty"`
	Unit        string   `json:"unit,omitempty" maxLength:"40"`
	Low         string   `json:"low,omitempty" maxLength:"100" doc:"Label of the low end"`
	High        string   `json:"high,omitempty" maxLength:"100" doc:"Label of the high end"`
	Options     []Option `json:"options,omitempty" nullable:"false" maxItems:"1000"`
	Rows        []Option `json:"rows,omitempty" nullable:"false" maxItems:"1000"`
	Other       bool     `json:"other,omitempty" doc:"Allow a free-text “Other” answer"`
	Shuffle     bool     `json:"shuffle,omitempty" doc:"Show the options in random order"`
	Several     bool     `json:"several,omitempty" doc:"Allow several answers, in a matrix per row"`
	MinPicks    *int     `json:"min_picks,omitempty"`
	MaxPicks    *int     `json:"max_picks,omitempty"`
	Earliest    string   `json:"earliest,omitempty"`
	Latest      string   `json:"latest,omitempty"`
	Text        string   `json:"text,omitempty" maxLength:"20000" doc:"Text in Markdown"`
	Expression  string   `json:"expression,omitempty" maxLength:"1000" doc:"Formula that uses the keys of earlier fields"`
	Total       string   `json:"total,omitempty" enum:"points,prices" doc:"Sum of the points or prices of the options chosen before, instead of a formula"`
	Concealed   bool     `json:"concealed,omitempty" doc:"Hide the result from respondents"`
	Accept      []string `json:"accept,omitempty" nullable:"false" maxItems:"8" doc:"Groups of file types; all if omitted" enum:"image,pdf,document,spreadsheet,presentation,audio,video,archive"`
	MaxFiles    *int     `json:"max_files,omitempty" doc:"1 if omitted"`
	MaxSizeMB   *int     `json:"max_size_mb,omitempty" doc:"Of one file; 10 if omitted"`
}

// Option is one of the choices of a question.
type Option struct {
	Value string `json:"value,omitempty" maxLength:"200" doc:"Identifies the option in answers; derived from the label if omitted"`
	Label string `json:"label" maxLength:"1000"`
	Cap   int    `json:"cap,omitempty" minimum:"0" doc:"How many responses can choose this option; 0 for no limit"`

	Points float64 `json:"points,omitempty" doc:"Counts towards a total of points; respondents do not see it"`
	Price  float64 `json:"price,omitempty" minimum:"0" doc:"Counts towards a total of prices; shown beside the option, with the unit of the question"`

	Image string `json:"image,omitempty" doc:"ID of a picture"`
	Alt   string `json:"alt,omitempty" maxLength:"500" doc:"What the picture shows, for people who cannot see it"`
}

var keyPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// maxDetails limits how many mistakes in a definition are reported at once.
const maxDetails = 100

// Normalize fills in omitted IDs, keys and option values, and reports every mistake.
// Its cost is linear in the size of the definition: references are looked up in maps.
func (d *Definition) Normalize() error {
	if len(d.Fields) > MaxFields {
		return fault.InvalidField("fields", "add no more than %d questions", MaxFields)
	}
	if err := d.checkLength(); err != nil {
		return err
	}
	details := d.normalize()
	if len(details) > 0 {
		return fault.InvalidFields(details[:min(len(details), maxDetails)]...)
	}
	return d.checkLength() // again, including generated values
}

// checkLength returns an error if the definition is too long as JSON.
func (d *Definition) checkLength() error {
	text, err := json.Marshal(&Definition{Fields: d.Fields, Endings: d.Endings, Settings: d.Settings, Design: d.Design})
	if err != nil {
		return err
	}
	if len(text) > MaxDefinition {
		return fault.InvalidField("fields", "the form is too large; the limit is %d KiB", MaxDefinition>>10)
	}
	return nil
}

func (d *Definition) normalize() []fault.Detail {
	var details []fault.Detail
	names, ids := newKeys(), map[string]bool{}
	for i, f := range d.Fields {
		if f == nil {
			return []fault.Detail{fault.NewDetail(fmt.Sprintf("fields.%d", i), "a field must be an object")}
		}
		if f.Key != "" {
			names.reserve(f.Key) // generated keys must not collide with these
		}
	}
	before := make(map[string]*Field, len(d.Fields))
	for i, f := range d.Fields {
		if len(details) >= maxDetails {
			return details
		}
		path := fmt.Sprintf("fields.%d", i)
		invalid := func(property, format string, args ...any) {
			details = append(details, fault.NewDetail(path+"."+property, format, args...))
		}
		kind := KindOf(f.Kind)
		if kind == nil {
			invalid("kind", "%q is not a question type", f.Kind)
			continue
		}
		f.name(names, invalid)
		if before[f.Key] != nil {
			invalid("key", "%q is already the key of another question", f.Key)
		}
		if f.ID == "" || ids[f.ID] || !keyPattern.MatchString(f.ID) {
			f.ID = "f" + strings.ToLower(rand.Text()[:12])
		}
		ids[f.ID] = true
		f.checkCommon(kind, invalid)
		kind.Check(f, invalid)
		f.ShowIf.check(before, func(format string, args ...any) { invalid("show_if", format, args...) }, 0)
		for property, text := range map[string]string{"label": f.Label, "help": f.Help, "text": f.Text} {
			checkPipes(text, before, func(format string, args ...any) { invalid(property, format, args...) })
		}
		if f.Default != nil && len(details) == 0 {
			if _, err := kind.Validate(f, f.Default); err != nil {
				invalid("default", "%s", err)
			}
		}
		before[f.Key] = f
	}
	details = append(details, d.checkEndings(names, before)...)
	details = append(details, d.checkSettings()...)
	details = append(details, d.checkDesign()...)
	if len(details) == 0 {
		// References are checked last, when all fields are known to be valid.
		details = d.checkReferences()
	}
	if len(details) == 0 {
		details = d.checkTotals()
	}
	return details
}

// checkReferences checks jumps and expressions.
func (d *Definition) checkReferences() []fault.Detail {
	var details []fault.Detail
	targets := d.jumpTargets()
	scope := newScope(len(d.Fields))
	terms := int64(0)
	for i, f := range d.Fields {
		invalid := func(property, format string, args ...any) {
			details = append(details, fault.NewDetail(fmt.Sprintf("fields.%d.%s", i, property), format, args...))
		}
		isText := false
		if f.Traits().Calculated && f.Total == "" {
			formula, err := compileExpression(f.Expression, scope)
			if err == nil {
				err = checkComparisons(formula, scope)
				isText = formula.isText
				terms += formula.terms
			}
			if err != nil {
				invalid("expression", "%s", err)
			}
			if terms > maxAllTerms {
				invalid("expression", "the formulas of a form can have up to %d terms in total", maxAllTerms)
				return details
			}
		}
		scope.add(f, isText)
		f.checkJumps(i, scope.fields, targets, invalid)
		if len(details) >= maxDetails {
			return details
		}
	}
	return details
}

// name gives the field a unique key.
func (f *Field) name(names *keySet, invalid func(property, format string, args ...any)) {
	if f.Key == "" {
		f.Key = names.free(slug(f.Label, f.Kind))
	}
	if !keyPattern.MatchString(f.Key) {
		invalid("key", "use up to 64 lowercase letters, numbers and underscores, starting with a letter")
	}
}

func (f *Field) checkCommon(kind Kind, invalid func(property, format string, args ...any)) {
	for _, p := range []struct {
		name, text string
		most       int
		line       bool
	}{
		{"label", f.Label, maxLabel, true}, {"help", f.Help, maxHelp, false}, {"placeholder", f.Placeholder, 200, true},
		{"unit", f.Unit, 40, true}, {"low", f.Low, 100, true}, {"high", f.High, 100, true}, {"text", f.Text, maxStatement, false},
	} {
		if n := utf8.RuneCountInString(p.text); n > p.most {
			invalid(p.name, "enter no more than %d characters", p.most)
		}
		if strings.ContainsFunc(p.text, forbiddenInText) || p.line && strings.ContainsFunc(p.text, unicode.IsControl) {
			invalid(p.name, "remove control characters")
		}
	}
	if f.Required && kind.Schema(f) == nil {
		invalid("required", "a %s has no answer, so it cannot be required", f.Kind)
	}
	uses := kind.Properties()
	for _, name := range f.properties() {
		if !slices.Contains(uses, name) {
			invalid(name, "%s does not have this property", f.Kind)
		}
	}
	checkOptions("options", f.Options, invalid)
	checkOptions("rows", f.Rows, invalid)
	f.checkPictures(invalid)
	f.checkAmounts(invalid)
	if slices.ContainsFunc(f.Options, func(o Option) bool { return o.Cap > 0 }) && !f.Traits().OptionLimits {
		invalid("options", "limits on options are not available for %s", f.Kind)
	}
}

// forbiddenInText reports control control characters that are not allowed in multi-line text.
func forbiddenInText(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

// properties returns the names of the properties that are set.
func (f *Field) properties() []string {
	var set []string
	add := func(name string, is bool) {
		if is {
			set = append(set, name)
		}
	}
	add("placeholder", f.Placeholder != "")
	add("min_length", f.MinLength != nil)
	add("max_length", f.MaxLength != nil)
	add("min", f.Min != nil)
	add("max", f.Max != nil)
	add("step", f.Step != nil)
	add("unit", f.Unit != "")
	add("low", f.Low != "")
	add("high", f.High != "")
	add("options", f.Options != nil)
	add("rows", f.Rows != nil)
	add("other", f.Other)
	add("shuffle", f.Shuffle)
	add("several", f.Several)
	add("min_picks", f.MinPicks != nil)
	add("max_picks", f.MaxPicks != nil)
	add("earliest", f.Earliest != "")
	add("latest", f.Latest != "")
	add("text", f.Text != "")
	add("expression", f.Expression != "")
	add("total", f.Total != "")
	add("concealed", f.Concealed)
	add("accept", f.Accept != nil)
	add("max_files", f.MaxFiles != nil)
	add("max_size_mb", f.MaxSizeMB != nil)
	return set
}

func checkOptions(property string, options []Option, invalid func(property, format string, args ...any)) {
	if len(options) > MaxOptions {
		invalid(property, "add no more than %d", MaxOptions)
		return
	}
	names := newKeys()
	for _, o := range options {
		if o.Value != "" {
			names.reserve(o.Value)
		}
	}
	seen := map[string]bool{}
	for i := range options {
		o := &options[i]
		path := property + "." + strconv.Itoa(i)
		o.Label = strings.TrimSpace(o.Label)
		if o.Label == "" {
			o.Label = o.Value
		}
		if o.Label == "" {
			invalid(path+".label", "enter a label, or remove it")
			continue // it gets its value with its label
		}
		if utf8.RuneCountInString(o.Label) > maxLabel || strings.ContainsFunc(o.Label, unicode.IsControl) {
			invalid(path+".label", "use one line of text")
		}
		if o.Value == "" {
			o.Value = names.free(slug(o.Label, "option"))
		}
		if utf8.RuneCountInString(o.Value) > maxValue || strings.ContainsFunc(o.Value, unicode.IsControl) {
			invalid(path+".value", "use one line of up to %d characters", maxValue)
		}
		if o.Cap < 0 || o.Cap > 0 && property == "rows" {
			invalid(path+".cap", "enter a number of responses, or 0 for no limit")
		}
		if seen[o.Value] {
			invalid(path+".value", "%q appears more than once", o.Value)
		}
		seen[o.Value] = true
	}
}
