package form

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/fault"
)

// Unfinished is what the owner sees in the builder while some of it is not valid. The
// definition beside it has only what is valid, so that everything else that reads a draft
// can rely on it. A draft with unfinished questions cannot be published.
type Unfinished struct {
	Fields   []*Field  `json:"fields"`
	Endings  []*Ending `json:"endings,omitempty"`
	Settings Settings  `json:"settings,omitzero"`
}

// Problems reports every mistake.
func (u *Unfinished) Problems() []fault.Detail {
	return (&Definition{Fields: u.Fields, Endings: u.Endings, Settings: u.Settings}).mistakes()
}

// mistakes reports what is wrong with a definition whose members exist.
func (d *Definition) mistakes() []fault.Detail {
	details := d.normalize()
	return details[:min(len(details), maxDetails)]
}

// Accept returns the definition to store for an edited draft, which may have mistakes: each
// question and ending as it was edited if that is valid, otherwise as it was before. The
// mistakes are returned too. It is an error if the draft cannot be stored at all.
func Accept(edited, before *Definition) (*Definition, []fault.Detail, error) {
	if err := edited.checkStorable(); err != nil {
		return nil, nil, err
	}
	details := edited.mistakes()
	if err := edited.checkLength(); err != nil { // including generated values
		return nil, nil, err
	}
	if len(details) == 0 {
		return edited, nil, nil
	}
	valid := edited.withoutMistakes(before)
	valid.Unfinished = &Unfinished{edited.Fields, edited.Endings, edited.Settings}
	return valid, details, nil
}

// Check reports what keeps a draft from being published, and advice. The paths are those of
// the draft as the builder shows it.
func (d *Definition) Check() (problems, advice []fault.Detail) {
	problems, advice = d.missingPictures(), d.Advice()
	if len(d.Fields) == 0 && d.Unfinished == nil {
		problems = append(problems, fault.NewDetail("fields", "add at least one question before you publish"))
	}
	u := d.Unfinished
	if u == nil {
		return problems, advice
	}
	mistakes := u.Problems()
	moved := newPaths(d, u)
	return append(mistakes, moved.of(problems, mistakes)...), moved.of(advice, mistakes)
}

// paths translates paths in a definition to paths in what is unfinished.
type paths map[string]string

func newPaths(d *Definition, u *Unfinished) paths {
	p := paths{}
	positions := map[string]string{}
	for i, f := range u.Fields {
		positions["f"+f.ID] = "fields." + strconv.Itoa(i)
	}
	for i, e := range u.Endings {
		positions["e"+e.Key] = "endings." + strconv.Itoa(i)
	}
	for i, f := range d.Fields {
		p["fields."+strconv.Itoa(i)] = positions["f"+f.ID]
	}
	for i, e := range d.Endings {
		p["endings."+strconv.Itoa(i)] = positions["e"+e.Key]
	}
	return p
}

// of returns the details with their new paths, without those about members that have one of
// the mistakes: they will change anyway.
func (p paths) of(details, mistakes []fault.Detail) []fault.Detail {
	wrong := map[string]bool{}
	for _, m := range mistakes {
		member, _ := splitPath(m.Field)
		wrong[member] = true
	}
	var moved []fault.Detail
	for _, detail := range details {
		member, rest := splitPath(detail.Field)
		if to := p[member]; to != "" && !wrong[to] {
			detail.Field = to + rest
			moved = append(moved, detail)
		}
	}
	return moved
}

// splitPath splits fields.3.options.0.label into fields.3 and the rest.
func splitPath(path string) (member, rest string) {
	first := strings.IndexByte(path, '.')
	if first < 0 {
		return path, ""
	}
	if second := strings.IndexByte(path[first+1:], '.'); second >= 0 {
		return path[:first+1+second], path[first+1+second:]
	}
	return path, ""
}

// Content returns what the builder edits, as JSON. It is empty if nothing is unfinished.
func (d *Definition) Content() string {
	if d.Unfinished == nil {
		return ""
	}
	text, err := json.Marshal(&Definition{Fields: d.Fields, Endings: d.Endings, Settings: d.Settings})
	if err != nil {
		panic(err) // cannot happen: definitions consist of JSON types
	}
	return string(text)
}

// checkStorable reports mistakes that even a draft may not have.
func (d *Definition) checkStorable() error {
	switch {
	case len(d.Fields) > MaxFields:
		return fault.InvalidField("fields", "add no more than %d questions", MaxFields)
	case len(d.Endings) > maxEndings:
		return fault.InvalidField("endings", "add no more than %d endings", maxEndings)
	case slices.Contains(d.Fields, nil):
		return fault.InvalidField("fields", "a field must be an object")
	case slices.Contains(d.Endings, nil):
		return fault.InvalidField("endings", "an ending must be an object")
	}
	if details := d.checkDesign(); len(details) > 0 {
		return fault.InvalidFields(details...)
	}
	return d.checkLength()
}

// maxRepairs limits how often the rest is checked again after invalid members were replaced.
const maxRepairs = 8

// withoutMistakes returns a valid definition with as much as possible of this one. Members
// with mistakes are replaced by what they were before; if that does not fit, they are left
// out.
func (d *Definition) withoutMistakes(before *Definition) *Definition {
	valid := &Definition{Fields: slices.Clone(d.Fields), Endings: slices.Clone(d.Endings), Settings: d.Settings, Design: d.Design}
	for i, f := range valid.Fields {
		valid.Fields[i] = f.withoutUnnamedOptions()
	}
	oldFields, oldEndings := map[string]*Field{}, map[string]*Ending{}
	for _, f := range before.Fields {
		oldFields[f.ID] = f
	}
	for _, e := range before.Endings {
		oldEndings[e.Key] = e
	}
	for range maxRepairs {
		details := valid.normalize()
		if len(details) == 0 {
			if valid.checkLength() == nil {
				return valid
			}
			break
		}
		fields, endings := map[int]bool{}, map[int]bool{}
		for _, detail := range details {
			list, rest, _ := strings.Cut(detail.Field, ".")
			position, _, _ := strings.Cut(rest, ".")
			n, err := strconv.Atoi(position)
			switch {
			case list == "fields" && err == nil:
				fields[n] = true
			case list == "endings" && err == nil:
				endings[n] = true
			case list == "settings":
				valid.Settings = before.Settings
			}
		}
		valid.Fields = replaceInvalid(valid.Fields, fields, oldFields, func(f *Field) string { return f.ID })
		valid.Endings = replaceInvalid(valid.Endings, endings, oldEndings, func(e *Ending) string { return e.Key })
	}
	return &Definition{Fields: before.Fields, Endings: before.Endings, Settings: before.Settings, Design: d.Design}
}

// replaceInvalid replaces members by those of the same name, each of which is used once, or
// leaves them out.
func replaceInvalid[T comparable](list []T, invalid map[int]bool, old map[string]T, name func(T) string) []T {
	kept := make([]T, 0, len(list))
	for i, member := range list {
		if invalid[i] {
			replacement, ok := old[name(member)]
			if delete(old, name(member)); !ok {
				continue
			}
			member = replacement
		}
		kept = append(kept, member)
	}
	return kept
}

// withoutUnnamedOptions returns the field without options and rows that have no label yet.
func (f *Field) withoutUnnamedOptions() *Field {
	unnamed := func(o Option) bool { return strings.TrimSpace(o.Label) == "" && o.Value == "" }
	if !slices.ContainsFunc(f.Options, unnamed) && !slices.ContainsFunc(f.Rows, unnamed) {
		return f
	}
	named := *f
	named.Options = slices.DeleteFunc(slices.Clone(f.Options), unnamed)
	named.Rows = slices.DeleteFunc(slices.Clone(f.Rows), unnamed)
	return &named
}
