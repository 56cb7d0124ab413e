package identity

import (
	"slices"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// maxListedForms is how many forms of a space a page lists to choose from. The search finds others.
const maxListedForms = 200

// dateFormat is that of date controls.
const dateFormat = "2006-01-02"

// limitChoice is the part of a page on which a user limits what an application may use. All its
// controls are in the form that the page posts, so that searching, or choosing another space,
// keeps the rest.
type limitChoice struct {
	Spaces   []store.Space // to choose from, the user's own first; nil: there is no choice
	Space    string        // ID of the chosen one
	Some     bool
	OnlySome bool // a grant of some forms cannot become one of all forms
	Forms    []formChoice
	Total    int64 // number of forms in the space that match the search
	Search   string
	CanFind  bool   // there is a search
	Until    string // a date; empty: no end
	From, To string // the first and the last date that can be chosen; To may be empty
	Open     bool   // the user has limited something, or has to
}

type formChoice struct {
	store.FormTitle
	Chosen bool
}

var (
	errBadLimits  = fault.New(fault.BadRequest, "The request does not say which forms the app may use.")
	errNoForms    = fault.Messagef("choose at least one form")
	errBadDate    = fault.Messagef("enter a date, such as 2026-12-31")
	errPastDate   = fault.Messagef("enter a date that is not in the past")
	errLaterDate  = fault.Messagef("enter a date that is not after the present end")
	errNoFormHere = fault.Messagef("choose forms of this space")
)

// readLimits reads the posted limits of a grant.
func (pages *Pages) readLimits(req *page.Request) (store.GrantLimits, page.Problems, error) {
	var limits store.GrantLimits
	if text := req.Field("space"); text != "" {
		var ok bool
		if limits.Space, ok = account.ParseSpaceID(text); !ok {
			return limits, nil, store.ErrForeignSpace
		}
	}
	switch req.Field("forms") {
	case "", "all":
	case "some":
		limits.SomeForms, limits.Forms = true, req.PostForm["form"]
	default:
		return limits, nil, errBadLimits
	}
	problems := page.Problems{}
	if text := req.Field("until"); text != "" {
		day, err := time.ParseInLocation(dateFormat, text, page.LoadZone(req.User.TimeZone))
		limits.Ends = day.AddDate(0, 0, 1) // the day is included
		switch {
		case err != nil:
			problems["until"] = errBadDate
			limits.Ends = time.Time{}
		case !limits.Ends.After(pages.Now()):
			problems["until"] = errPastDate
		}
	}
	return limits, problems, nil
}

// newLimitChoice lists what a user can choose from. access is that of the user to the space of the
// limits.
func (pages *Pages) newLimitChoice(req *page.Request, access account.Access, limits store.GrantLimits) (limitChoice, error) {
	zone := page.LoadZone(req.User.TimeZone)
	c := limitChoice{
		Space: account.SpaceID(access.Space), Some: limits.SomeForms, Search: req.Field("search"), Until: req.Field("until"),
		From: pages.Now().In(zone).Format(dateFormat), Open: limits.SomeForms || req.Field("until") != "",
	}
	ctx := store.ForAccount(req.Request.Context(), access.Space)
	forms, total, err := pages.Store.Forms(ctx, access.Space, store.FormFilter{Search: c.Search, Only: access.FormList}, store.NewestFirst, store.Page{Limit: maxListedForms})
	if err != nil {
		return c, err
	}
	chosen, err := pages.Store.FormTitles(ctx, access, limits.Forms[:min(len(limits.Forms), store.MaxGrantForms)])
	if err != nil {
		return c, err
	}
	isChosen := map[string]bool{}
	for _, f := range chosen {
		isChosen[f.ID] = true
		c.Forms = append(c.Forms, formChoice{f, true})
	}
	for _, f := range forms {
		if !isChosen[f.ID] {
			c.Forms = append(c.Forms, formChoice{store.FormTitle{ID: f.ID, Title: f.Title}, false})
		}
	}
	c.Total, c.CanFind = total, c.Search != "" || total > 10
	return c, nil
}

// offerSpaces adds the spaces that a user can choose from.
func (pages *Pages) offerSpaces(req *page.Request, c *limitChoice) error {
	spaces, err := pages.Store.Spaces(req.Context(), req.User.ID)
	if err != nil || len(spaces) == 0 {
		return err
	}
	c.Spaces = slices.Insert(spaces, 0, store.Space{Key: req.User.ID})
	return nil
}
