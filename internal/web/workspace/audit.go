package workspace

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"formulary/internal/account"
	"formulary/internal/download"
	"formulary/internal/export"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// auditPage shows the audit log of a space, newest first.
type auditPage struct {
	page.Layout
	Space        store.Space
	Entries      []shownEntry
	Actions      []actionChoice
	People       []personChoice
	Since, Until string // days
	Filtered     bool
	Download     string // address of the file with the same entries
	Older        string // address of the next entries; empty: there are none
	Newest       string // address of the first page; empty: this is it
}

// shownEntry is an entry in words.
type shownEntry struct {
	store.AuditEntry
	Text  string
	Where string // network address
}

type actionChoice struct {
	Action   store.AuditAction
	Meaning  string
	Selected bool
}

type personChoice struct {
	ID, Name string
	Selected bool
}

const (
	auditPerPage = 50
	// maxAuditPeople bounds the choice of people. Those on the page can always be chosen.
	maxAuditPeople = 500
)

// auditFilter reads the filter of the query. Values that are not valid select all entries.
func auditFilter(req *page.Request) (store.AuditFilter, url.Values) {
	query, kept := req.URL.Query(), url.Values{}
	keep := func(name string) string {
		kept.Set(name, query.Get(name))
		return query.Get(name)
	}
	var f store.AuditFilter
	if a := store.AuditAction(query.Get("action")); slices.ContainsFunc(store.AuditActions, func(known store.AuditActionInfo) bool { return known.Action == a }) {
		f.Action = store.AuditAction(keep("action"))
	}
	if _, ok := id.Parse(id.User, query.Get("person")); ok {
		f.PersonID = keep("person")
	}
	zone := page.LoadZone(req.User.TimeZone)
	if day, err := time.ParseInLocation(time.DateOnly, query.Get("since"), zone); err == nil {
		f.Since = day
		keep("since")
	}
	if day, err := time.ParseInLocation(time.DateOnly, query.Get("until"), zone); err == nil {
		f.Until = day.AddDate(0, 0, 1)
		keep("until")
	}
	return f, kept
}

// ShowAudit shows the audit log of a space to its owners.
func (pages *Pages) ShowAudit(req *page.Request) error {
	f, kept := auditFilter(req)
	space, err := pages.Store.Space(req.Context(), req.Owner())
	if err != nil {
		return err
	}
	address, section := "/spaces/"+space.ID()+"/audit", "account"
	if space.Shared {
		section = "spaces"
	}
	p := &auditPage{
		Layout: page.Layout{TitleKey: "Audit log", Section: section, Style: "audit.css"}, Space: space, Since: kept.Get("since"), Until: kept.Get("until"),
		Filtered: len(kept) > 0, Download: address + "/download?" + kept.Encode(),
	}
	if before := req.URL.Query().Get("before"); before != "" {
		if _, ok := id.Parse(id.Audit, before); ok {
			f.Before, p.Newest = before, address+"?"+kept.Encode()
		}
	}
	list, err := pages.Store.Audit(req.Context(), req.Owner(), f, auditPerPage+1)
	if err != nil {
		return err
	}
	if len(list) > auditPerPage {
		list = list[:auditPerPage]
		kept.Set("before", list[auditPerPage-1].ID)
		p.Older = address + "?" + kept.Encode()
	}
	for _, e := range list {
		shown := shownEntry{AuditEntry: e, Text: pages.describeEntry(req, e)}
		if e.Actor.Address.IsValid() {
			shown.Where = e.Actor.Address.String()
		}
		p.Entries = append(p.Entries, shown)
	}
	for _, a := range store.AuditActions {
		p.Actions = append(p.Actions, actionChoice{a.Action, a.Meaning, a.Action == f.Action})
	}
	if p.People, err = pages.auditPeople(req, list, f.PersonID); err != nil {
		return err
	}
	return pages.templates.Render(req, http.StatusOK, "audit", p)
}

// auditPeople lists the people whose entries can be chosen: members and those on the page.
func (pages *Pages) auditPeople(req *page.Request, entries []store.AuditEntry, chosen string) ([]personChoice, error) {
	var list []personChoice
	add := func(person, name string) {
		if person != "" && !slices.ContainsFunc(list, func(p personChoice) bool { return p.ID == person }) {
			list = append(list, personChoice{person, name, person == chosen})
		}
	}
	members, _, err := pages.Store.Members(req.Context(), req.Owner(), store.Page{Limit: maxAuditPeople})
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		add(m.PersonID, m.DisplayName())
	}
	for _, e := range entries {
		add(e.Actor.PersonID, e.Actor.PersonName)
	}
	if req.Owner() == req.User.ID {
		add(req.User.ID, req.User.DisplayName())
	}
	add(chosen, chosen)
	return list, nil
}

// auditHeader is the first row of the file. The columns are those of the API.
var auditHeader = []string{"id", "at", "actor", "person_id", "person", "application_id", "application", "address", "action", "object_id", "object", "details"}

// DownloadAudit sends the entries that the filter selects as a CSV file.
func (pages *Pages) DownloadAudit(req *page.Request) error {
	f, _ := auditFilter(req)
	ctx, owner := req.Context(), req.Owner()
	if err := pages.Store.RecordAudit(ctx, owner, store.AuditEntry{Action: store.AuditExported, ObjectID: account.SpaceID(owner)}); err != nil {
		return err
	}
	file := download.File{Name: "audit " + account.SpaceID(owner) + ".csv", MediaType: "text/csv; charset=utf-8"}
	return download.Send(req.W, req.Request, pages.Site.Log, file, func(out io.Writer) error {
		table, err := export.NewCSV(out, auditHeader)
		if err != nil {
			return err
		}
		if err := pages.Store.StreamAudit(ctx, owner, f, func(e store.AuditEntry) error {
			details, err := json.Marshal(e.Details)
			if err != nil {
				return err
			}
			a, address := e.Actor, ""
			if a.Address.IsValid() {
				address = a.Address.String()
			}
			return table.Row([]any{e.ID, e.At(), string(a.Kind), a.PersonID, a.PersonName, a.AppID, a.AppName, address, string(e.Action), e.ObjectID, e.ObjectName, string(details)})
		}); err != nil {
			return err
		}
		return table.Close()
	})
}
