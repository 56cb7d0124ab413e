package form

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"formulary/internal/fault"
)

// Availability controls where and when a form accepts responses. Unlike the definition,
// it takes effect immediately, without publishing.
type Availability struct {
	Slug          string    // custom link; empty: none
	OpensAt       time.Time // zero: as soon as it is published
	ClosesAt      time.Time // zero: never
	ResponseLimit int64     // 0: none
	Sites         string    // sites that may embed the form and post to it, separated by spaces; * for any
}

// AnySite is the value of Sites that allows every site.
const AnySite = "*"

const (
	maxSites = 50
	maxLimit = 1_000_000_000
)

var slugPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Normalize validates the settings and reports every invalid field.
func (o *Availability) Normalize() error {
	var details []fault.Detail
	invalid := func(field, format string, args ...any) {
		details = append(details, fault.NewDetail(field, format, args...))
	}
	o.Slug = strings.ToLower(strings.TrimSpace(o.Slug))
	if o.Slug != "" && (len(o.Slug) < 3 || len(o.Slug) > 64 || !slugPattern.MatchString(o.Slug)) {
		invalid("slug", "use 3 to 64 lowercase letters, numbers and hyphens, such as summer-party; do not start or end with a hyphen")
	}
	for _, field := range []struct {
		name string
		at   time.Time
	}{{"opens_at", o.OpensAt}, {"closes_at", o.ClosesAt}} {
		if year := field.at.UTC().Year(); !field.at.IsZero() && (year < 2000 || year > 9999) {
			invalid(field.name, "choose a date between 2000 and 9999")
		}
	}
	if !o.OpensAt.IsZero() && !o.ClosesAt.IsZero() && !o.OpensAt.Before(o.ClosesAt) {
		invalid("closes_at", "choose a time after the opening time")
	}
	if o.ResponseLimit < 0 || o.ResponseLimit > maxLimit {
		invalid("response_limit", "enter a number up to %d, or 0 for no limit", maxLimit)
	}
	sites := strings.Fields(o.Sites)
	if len(sites) > maxSites {
		invalid("sites", "add no more than %d sites", maxSites)
	}
	for i, site := range sites {
		origin, ok := originOf(site)
		if !ok && site != AnySite {
			invalid("sites", "%q is not a valid site; enter one such as https://example.com", site)
		}
		if ok {
			sites[i] = origin
		}
	}
	slices.Sort(sites)
	if o.Sites = strings.Join(slices.Compact(sites), " "); slices.Contains(sites, AnySite) {
		o.Sites = AnySite
	}
	if len(details) > 0 {
		return fault.InvalidFields(details...)
	}
	return nil
}

// originOf converts a site to the form that browsers send in the Origin header.
func originOf(site string) (string, bool) {
	u, err := url.Parse(site)
	if err != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", false
	}
	return SiteOf(site)
}

// AllowsOrigin reports whether pages of the origin may submit responses.
func (o Availability) AllowsOrigin(origin string) bool {
	return o.Sites == AnySite || slices.Contains(strings.Fields(o.Sites), origin)
}

// FormInput is everything that the owner of a form edits.
type FormInput struct {
	Header
	Availability
	Definition *Definition
	Folder     string // of a new form; empty: none
	// RetentionDays is how long a new form keeps its responses; 0: until someone deletes them.
	RetentionDays int64
}

// Normalize normalizes and validates all parts.
func (d *FormInput) Normalize() error {
	if err := d.Header.Normalize(); err != nil {
		return err
	}
	if err := d.Availability.Normalize(); err != nil {
		return err
	}
	return d.Definition.Normalize()
}

// Metadata describes where a response came from.
type Metadata struct {
	Source   string `json:"source,omitempty" enum:"page,json,api" doc:"How the response was submitted: on the form's page, as JSON from another site, or through the API" example:"page"`
	Seconds  int64  `json:"seconds,omitempty" doc:"Seconds the form was open" example:"42"`
	EditedAt string `json:"edited_at,omitempty" format:"date-time" doc:"When it was last changed"`
}

// Encode returns the metadata as stored. The common case, a source alone, is built by
// hand.
func (m Metadata) Encode() (string, error) {
	switch m {
	case Metadata{Source: "json"}:
		return `{"source":"json"}`, nil
	case Metadata{Source: "api"}:
		return `{"source":"api"}`, nil
	}
	text, err := json.Marshal(m)
	return string(text), err
}

// Selection is an option that a respondent chose.
type Selection struct {
	FieldID string
	Key     string
	Value   string
}

// Selections returns the options chosen in stored answers.
func (d *Definition) Selections(answers map[string]any) []Selection {
	var list []Selection
	for _, f := range d.Fields {
		if f.Options == nil || f.Rows != nil || f.Traits().Ordered {
			continue
		}
		var values []string
		switch a := answers[f.Key].(type) {
		case string:
			values = []string{a}
		case []string:
			values = a
		case []any:
			values = StringSlice(a)
		}
		options := newLookup(f.Options, len(values))
		chosen := make([]int, 0, len(values))
		for _, value := range values {
			if at := options.find(value); at >= 0 {
				chosen = append(chosen, at)
			}
		}
		slices.Sort(chosen)
		for _, at := range slices.Compact(chosen) {
			list = append(list, Selection{f.ID, f.Key, f.Options[at].Value})
		}
	}
	return list
}

// HasOptionLimits reports whether any option has a limit.
func (d *Definition) HasOptionLimits() bool { return d.prepared().hasOptionLimits }

// ErrOptionLimitReached reports an option whose limit is reached.
var ErrOptionLimitReached = answerError("this option is no longer available; choose another one")
