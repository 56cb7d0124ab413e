package workspace

import (
	"cmp"
	"slices"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// versionChange is one difference between two versions in words.
type versionChange struct {
	Action string // added, removed, changed or reordered
	Label  string // of the action
	Name   string // what changed
	Kind   string // question type
	Values []changedValue
}

type changedValue struct {
	Property string
	Before   string // empty: not set
	After    string
}

// maxShownChanges limits the page.
const maxShownChanges = 300

var changeLabels = map[string]string{form.Added: "Added", form.Removed: "Removed", form.Changed: "Edited", form.Reordered: "Moved"}

// settingLabels are the names of properties that have no entry in form.CommonProperties and
// form.KindProperties.
var settingLabels = map[string]string{
	"title": "Title", "description": "Description", "language": "Language", "redirect": "Redirect to", "submit_label": "Submit button text",
	"hide_progress": "Hide progress", "ask_again": "Allow another response", "forget_visits": "Count visits", "kind": "Question type", "text": "Text",
}

// describeChanges lists what changed from one version to another.
func (pages *Pages) describeChanges(req *page.Request, before, after store.Version) []versionChange {
	translate := func(text string) string { return pages.Site.TranslateFor(req, text) }
	changes := form.Diff(form.FormInput{Header: before.Header, Definition: before.Definition}, form.FormInput{Header: after.Header, Definition: after.Definition})
	old, current := newMembers(before.Definition), newMembers(after.Definition)
	var list []versionChange
	for _, c := range changes[:min(len(changes), maxShownChanges)] {
		change := versionChange{Action: c.Action, Label: translate(changeLabels[c.Action])}
		field, ending := current.fields[c.Key], current.endings[c.Key]
		if c.Action == form.Removed {
			field, ending = old.fields[c.Key], old.endings[c.Key]
		}
		switch {
		case c.Action == form.Reordered && c.Subject == "field":
			change.Name = translate("Order of the questions")
		case c.Action == form.Reordered:
			change.Name = translate("Order of the endings")
		case c.Subject == "field" && field != nil:
			change.Name = cmp.Or(field.Label, field.Key)
			if kind := form.KindOf(field.Kind); kind != nil {
				change.Kind = translate(kind.Info().Title)
			}
			previous := old.byID[field.ID]
			for _, property := range c.Properties {
				if previous != nil {
					change.add(translate, property, before.Definition.DescribeField(previous, property, translate), after.Definition.DescribeField(field, property, translate))
				}
			}
		case c.Subject == "ending" && ending != nil:
			change.Name, change.Kind = cmp.Or(ending.Title, ending.Key), translate("Ending")
			for _, property := range c.Properties {
				if previous := old.endings[c.Key]; previous != nil {
					change.add(translate, property, before.Definition.DescribeEnding(previous, property, translate), after.Definition.DescribeEnding(ending, property, translate))
				}
			}
		case c.Properties != nil:
			change.Name = translate("Settings")
			var from, to any = before.Definition.Settings, after.Definition.Settings
			if c.Subject == "design" {
				change.Name, from, to = translate("Design"), before.Definition.Design, after.Definition.Design
			}
			for _, property := range c.Properties {
				change.add(translate, property, form.DescribeSetting(from, property, translate), form.DescribeSetting(to, property, translate))
			}
		default:
			change.Name = translate("Form")
			from, _ := c.From.(string)
			to, _ := c.To.(string)
			change.add(translate, c.Subject, from, to)
		}
		list = append(list, change)
	}
	return list
}

func (c *versionChange) add(translate func(string) string, property, before, after string) {
	label := settingLabels[property]
	for _, p := range slices.Concat(form.CommonProperties, form.KindProperties) {
		if p.Name == property {
			label = p.Label
		}
	}
	if label == "" {
		label = property
	}
	c.Values = append(c.Values, changedValue{translate(label), before, after})
}

// members are the questions and endings of a definition.
type members struct {
	fields  map[string]*form.Field // by key
	byID    map[string]*form.Field
	endings map[string]*form.Ending // by key
}

func newMembers(d *form.Definition) members {
	m := members{map[string]*form.Field{}, map[string]*form.Field{}, map[string]*form.Ending{}}
	for _, f := range d.Fields {
		m.fields[f.Key], m.byID[f.ID] = f, f
	}
	for _, e := range d.Endings {
		m.endings[e.Key] = e
	}
	return m
}
