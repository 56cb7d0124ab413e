package form

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"formulary/internal/fault"
)

// Offer is how a form is offered to people. Unlike what it asks, a change of it
// holds at once, without publishing.
type Offer struct {
	Slug          string    // a readable address beside the id; empty: none
	OpensAt       time.Time // zero: as soon as it is published
	ClosesAt      time.Time // zero: never
	ResponseLimit int64     // 0: none
	Sites         string    // that may show it in a frame and send answers to it, with spaces between; * is any
}

// AnySite is what Sites says when every site may.
const AnySite = "*"

const (
	maxSites = 50
	maxLimit = 1_000_000_000
)

var slugPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Clean checks an offer and says what is wrong, field by field.
func (o *Offer) Clean() error {
	var details []fault.Detail
	wrong := func(field, format string, args ...any) {
		details = append(details, fault.Detail{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	o.Slug = strings.ToLower(strings.TrimSpace(o.Slug))
	if o.Slug != "" && (len(o.Slug) < 3 || len(o.Slug) > 64 || !slugPattern.MatchString(o.Slug)) {
		wrong("slug", "use 3 to 64 lowercase letters, numbers and hyphens, such as summer-party; do not start or end with a hyphen")
	}
	if !o.OpensAt.IsZero() && !o.ClosesAt.IsZero() && !o.OpensAt.Before(o.ClosesAt) {
		wrong("closes_at", "choose a time after the opening time")
	}
	if o.ResponseLimit < 0 || o.ResponseLimit > maxLimit {
		wrong("response_limit", "enter a number up to %d, or 0 for no limit", maxLimit)
	}
	sites := strings.Fields(o.Sites)
	if len(sites) > maxSites {
		wrong("sites", "add no more than %d sites", maxSites)
	}
	for i, site := range sites {
		origin, ok := originOf(site)
		if !ok && site != AnySite {
			wrong("sites", "%q is not a valid site; enter one such as https://example.com", site)
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
		return fault.Fields(details...)
	}
	return nil
}

// originOf reads a site as browsers write it in Origin.
func originOf(site string) (string, bool) {
	u, err := url.Parse(site)
	if err != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", false
	}
	return SiteOf(site)
}

// Allows says whether pages of the origin may send answers.
func (o Offer) Allows(origin string) bool {
	return o.Sites == AnySite || slices.Contains(strings.Fields(o.Sites), origin)
}

// Plan is a form as its owner works on it.
type Plan struct {
	Head
	Offer
	Definition *Definition
}

// Clean checks all of it.
func (d *Plan) Clean() error {
	if err := d.Head.Clean(); err != nil {
		return err
	}
	if err := d.Offer.Clean(); err != nil {
		return err
	}
	return d.Definition.Clean()
}

// Metadata is how a response came.
type Metadata struct {
	Source   string `json:"source,omitempty" enum:"page,json,api" doc:"How the response was submitted: on the form's page, as JSON from another site, or through the API" example:"page"`
	Seconds  int64  `json:"seconds,omitempty" doc:"Seconds the form was open" example:"42"`
	EditedAt string `json:"edited_at,omitempty" format:"date-time" doc:"When it was last changed"`
}

// Encode writes the metadata as it is stored. Most have a source and nothing else.
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

// Choice is an option that somebody chose.
type Choice struct {
	FieldID string
	Key     string
	Value   string
}

// Choices are the options that answers, as they are stored, have chosen.
func (d *Definition) Choices(answers map[string]any) []Choice {
	var list []Choice
	for _, f := range d.Fields {
		if f.Options == nil || f.Rows != nil || f.Kind == (ranking{}).Name() {
			continue
		}
		var values []string
		switch a := answers[f.Key].(type) {
		case string:
			values = []string{a}
		case []string:
			values = a
		case []any:
			values = Strings(a)
		}
		options := lookupOf(f.Options, len(values))
		chosen := make([]int, 0, len(values))
		for _, value := range values {
			if at := options.find(value); at >= 0 {
				chosen = append(chosen, at)
			}
		}
		slices.Sort(chosen)
		for _, at := range slices.Compact(chosen) {
			list = append(list, Choice{f.ID, f.Key, f.Options[at].Value})
		}
	}
	return list
}

// HasCaps says whether any option has a cap.
func (d *Definition) HasCaps() bool { return d.prepared().capped }

// ErrFull is the problem of an option that has been chosen often enough.
var ErrFull = problem("this option is no longer available; choose another one")
