package workspace

import (
	"slices"

	"formulary/internal/form"
)

// builderKind is a question type in the builder. It has everything that the scripts need
// to know, so that they never compare names of types. Its other texts are in
// builder-kinds.js.
type builderKind struct {
	Name       string   `json:"name"`
	Title      string   `json:"title"`
	Icon       string   `json:"icon"`
	Properties []string `json:"properties"`
	Fixed      []string `json:"fixed,omitempty"` // properties with only one possible value
	NoAnswer   bool     `json:"no_answer,omitempty"`
	Type       string   `json:"type,omitempty"`  // of an answer: number, date, boolean, choice, picture, list, calculated, composite; empty: text
	Input      string   `json:"input,omitempty"` // type of an HTML input for an answer; empty: text
	Multiline  bool     `json:"multiline,omitempty"`
	Hidden     bool     `json:"hidden,omitempty"` // from respondents
	Break      bool     `json:"page_break,omitempty"`
	Limits     bool     `json:"limits,omitempty"`     // options may have a limit
	Points     bool     `json:"points,omitempty"`     // options may have points, but no limit
	NoDefault  bool     `json:"no_default,omitempty"` // no default answer
	Sketch     string   `json:"sketch,omitempty"`     // name of its drawing; empty: depends on its properties
}

func newBuilderKind(k form.Kind) builderKind {
	about, t, f := k.Info(), k.Traits(), &form.Field{Kind: k.Name()}
	b := builderKind{
		Name: k.Name(), Title: about.Title, Icon: about.Icon, Properties: emptyIfNil(k.Properties()), Fixed: t.FixedProperties,
		NoAnswer: !f.HasAnswer(), Type: answerType(k), Multiline: t.Multiline, Hidden: t.Hidden, Break: t.PageBreak, Limits: t.OptionLimits, Points: t.OptionPoints, Sketch: t.Sketch,
	}
	b.NoDefault = b.Type == "composite" || t.NoDefault
	switch b.Type {
	case "number":
		b.Input = "number"
	case "date":
		b.Input = t.Input
	}
	return b
}

// answerType says how the builder compares an answer with a value.
func answerType(k form.Kind) string {
	switch t, f := k.Traits(), (&form.Field{Kind: k.Name()}); {
	case !f.HasAnswer():
		return ""
	case t.Parts != nil || t.Ordered || t.Files: // several values
		return "composite"
	case t.Pictures: // one option or a list
		return "picture"
	case slices.Contains(k.Properties(), "options") && t.List:
		return "list"
	case slices.Contains(k.Properties(), "options"):
		return "choice"
	case f.IsBoolean():
		return "boolean"
	case f.IsNumeric():
		return "number"
	case t.TimeLayout != "":
		return "date"
	case t.Calculated:
		return "calculated"
	}
	return ""
}

func emptyIfNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
