package page

import (
	"slices"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/locale"
	"formulary/internal/store"
	"formulary/internal/theme"
)

// Layout is what every page has; page structs embed it. Texts of ours are set in English
// (TitleKey, NoticeKey, Problems), and Render translates them. Its methods that are worth it
// are not inlined, so not copied into each page struct (see docs/decisions/binary-size.md).
type Layout struct {
	Title     string // as an owner wrote it
	TitleKey  string // a title of ours
	Notice    string // confirms what the request before this page did
	NoticeKey string
	Errors    FieldErrors
	Problems  Problems

	User    *account.User // set by Render
	Section string        // of the menu: forms, spaces, applications, connections, api, mails, account
	// Spaces is what the user can switch between, set by Render; nil: they have only their own.
	Spaces *store.SpaceMenu
	Mails  bool     // the menu has a link to mails that were not sent; set by Render
	Tour   bool     // the page explains the next step to somebody who is new; set by Render
	Narrow bool     // one short form, as for signing in
	Bar    bool     // the page has a bar of its own: the template bar
	Script string   // static file of one more script
	Style  string   // static file of one more style sheet
	Media  bool     // the page plays recordings or films
	Assets []string // static files of parts of the page, loaded before Script

	Public   bool   // a form for respondents: no menu
	Look     Look   // of a public form
	Language string // of a public form; English if empty
	Embedded bool   // in a frame on another site
	OEmbed   string // path of the form that the page shows
	// Card describes a public form where its link is shared; nil: nothing does.
	Card *ShareCard

	FormAction     string // sites that a form on the page may redirect to, separated by spaces
	FrameAncestors string // sites that may show the page in a frame; none if empty

	catalog  locale.Catalog // of the viewer's language
	language string         // of the viewer
	zone     string         // time zone of the viewer
	access   account.Access // of the user to the space that the page is in
	formID   string         // that the page is about
}

// ShareCard is what search engines, sites and messengers show of a page beside its title.
type ShareCard struct {
	Path          string // of the page
	Text          string // description
	Picture       string // path
	Width, Height int    // of the picture
}

// Page is a struct that embeds Layout.
type Page interface{ base() *Layout }

func (l *Layout) base() *Layout { return l }

// AddAssets adds static files that are not among the assets yet.
//
//go:noinline
func (l *Layout) AddAssets(names []string) {
	for _, name := range names {
		if !slices.Contains(l.Assets, name) {
			l.Assets = append(l.Assets, name)
		}
	}
}

// Direction is the writing direction of the page's language.
func (l *Layout) Direction() string { return locale.Direction(l.Lang()) }

// StyleSheet is the main style sheet without the layers that the page does not need.
//
//go:noinline
func (l *Layout) StyleSheet() string {
	switch {
	case l.Public:
		return formStyleSheet(theme.Mood(l.Look.Mood))
	case l.Style == "builder.css":
		return "builder-base.css"
	}
	return "formulary.css"
}

// Problems are messages by the name of the control that they are about.
type Problems map[string]fault.Term

// FieldErrors are problems in the language of the page.
type FieldErrors map[string]string

// NewProblems returns the details of an error about input, the first one for each
// control. It returns any other error unchanged.
func NewProblems(err error) (Problems, error) {
	e := fault.Wrap(err)
	if e.Code != fault.Invalid {
		return nil, err
	}
	list := Problems{}
	for _, d := range e.Details {
		if list[d.Field] == nil {
			list[d.Field] = d
		}
	}
	return list, nil
}
