package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
)

const (
	manySpaces  = 200   // that one person is in
	manyMembers = 1_000 // of a space
	manyGranted = 1_000 // forms of a grant

	// maxSpaceRatio limits the cost of a list in a large space to that of a personal one.
	maxSpaceRatio = 1.3
)

// spaceCosts are the costs of a list of forms: of a person, and of a large shared space.
type spaceCosts struct {
	name  string // of the server
	lines []spaceLine
}

// spaceLine compares one list with that of a person, in CPU seconds.
type spaceLine struct {
	title         string
	person, space float64
}

// largeSpace is a shared space, and a member of it who is in many spaces.
type largeSpace struct {
	key    string
	member account.User
	some   []string // IDs of forms for a grant
}

// addLargeSpace fills a space with members and with forms like those of the person that it is
// compared with.
func (w *dataset) addLargeSpace(ctx context.Context) (largeSpace, error) {
	member, err := w.addUser(ctx, "member@example.com", someForms)
	if err != nil {
		return largeSpace{}, err
	}
	l := largeSpace{member: member, key: id.New(id.User, time.Now())}
	var owner account.User
	for n := range manySpaces {
		if n%store.MaxOwnedSpaces == 0 {
			if owner, err = w.addUser(ctx, fmt.Sprintf("owner%d@example.com", n), 0); err != nil {
				return l, err
			}
		}
		key := l.key
		if n > 0 {
			key = id.New(id.User, time.Now())
		}
		if err := w.store.AddSpace(ctx, store.Space{Key: key, Name: fmt.Sprintf("Team %d", n)}, owner, time.Now()); err != nil {
			return l, err
		}
		if err := w.store.SetMember(ctx, key, member.ID, account.Editor, time.Now()); err != nil {
			return l, err
		}
	}
	if err := inParallel(manyMembers-2, func(n int64) error {
		p, err := w.addUser(ctx, fmt.Sprintf("member%d@example.com", n), 0)
		if err != nil {
			return err
		}
		return w.store.SetMember(ctx, l.key, p.ID, account.Viewer, time.Now())
	}); err != nil {
		return l, err
	}
	if err := inParallel(manyForms, func(n int64) error { return w.addForm(ctx, l.key, n) }); err != nil {
		return l, err
	}
	forms, _, err := w.store.Forms(ctx, l.key, store.FormFilter{}, store.NewestFirst, store.Page{Limit: manyForms})
	for i := 0; i < len(forms); i += manyForms / manyGranted {
		l.some = append(l.some, forms[i].ID)
	}
	return l, err
}

// grant lets a user allow the application some access, and returns the token.
func (w *dataset) grant(ctx context.Context, addr string, user account.User, limits store.GrantLimits) (string, error) {
	now := time.Now()
	choice, err := w.store.GrantChoice(ctx, user.ID, limits)
	if err != nil {
		return "", err
	}
	request := store.ConsentRequest{AppID: w.app.ID, RedirectURI: redirectURI, Scopes: account.DefaultScopes()}
	asked, code := account.NewSecret(account.ConsentRequestKey, user.ID, now), account.NewSecret(account.Code, user.ID, now)
	if err := w.store.AddConsentRequest(ctx, asked, request, now.Add(codeLife)); err != nil {
		return "", err
	}
	key, _ := account.ParseSecret(account.ConsentRequestKey, asked.Text)
	if _, err := w.store.AllowConsent(ctx, key, store.Consent{Code: code, Expires: now.Add(codeLife), Choice: choice}, now); err != nil {
		return "", err
	}
	answer, err := fetch(ctx, addr, w.exchangeRequest(code.Text))
	if err != nil {
		return "", fmt.Errorf("exchange: %w", err)
	}
	var t tokens
	err = json.Unmarshal(answer.Body, &t)
	return t.Access, err
}

// signIn returns the cookie of a new session.
func (w *dataset) signIn(ctx context.Context, user account.User) (string, error) {
	now := time.Now()
	secret := account.NewSecret(account.SessionKey, user.ID, now)
	return "formulary=" + secret.Text, w.store.AddSession(ctx, store.NewSession{Secret: secret}, now)
}

// measureSpaces compares lists of forms of a large shared space with those of a person.
func (b *bench) measureSpaces(ctx context.Context, s *instance) (spaceCosts, error) {
	fmt.Fprintln(b.progress, "  Forms of a person and of a large space")
	costs := spaceCosts{name: s.name()}
	w := s.dataset
	space, err := w.addLargeSpace(ctx)
	if err != nil {
		return costs, fmt.Errorf("fill a space: %w", err)
	}
	if s.location.url != "" { // PostgreSQL does so by itself, but not at once
		if err := execute(ctx, s.location.url, "ANALYZE"); err != nil {
			return costs, fmt.Errorf("analyze: %w", err)
		}
	}
	var list [3]string
	for i, grant := range []struct {
		user   account.User
		limits store.GrantLimits
	}{
		{w.smallOwner, store.GrantLimits{}},
		{space.member, store.GrantLimits{Space: space.key}},
		{space.member, store.GrantLimits{Space: space.key, SomeForms: true, Forms: space.some}},
	} {
		if list[i], err = w.grant(ctx, s.service.addr, grant.user, grant.limits); err != nil {
			return costs, fmt.Errorf("grant: %w", err)
		}
	}
	person, err := w.signIn(ctx, w.smallOwner)
	if err != nil {
		return costs, err
	}
	member, err := w.signIn(ctx, space.member)
	if err != nil {
		return costs, err
	}
	// A list by status is never cached.
	const repeated, fresh = "/api/v1/forms?per_page=20", "/api/v1/forms?per_page=20&status=draft"
	requests := [][]byte{
		get(repeated, list[0]), get(repeated, list[1]), get(repeated, list[2]),
		get(fresh, list[0]), get(fresh, list[1]), get(fresh, list[2]),
		getPage("/", person), getPage("/", member), getPage("/", member+"; formulary-space="+account.SpaceID(space.key)),
	}
	sets := make([]requestSet, len(requests))
	for i, request := range requests {
		sets[i] = requestSet{s.service, [][]byte{request}}
	}
	measured, err := b.measureInterleaved(ctx, throughput, sets...)
	if err != nil {
		return costs, fmt.Errorf("spaces: %w", err)
	}
	for i, name := range []string{2: "grant-repeated", 5: "grant-drafts", 6: "home", 7: "home-of-member"} {
		if s.admin == "" || name == "" {
			continue
		}
		if err := b.profile(ctx, s.admin, s.engine+"-spaces-"+name, func(length time.Duration) error {
			_, err := run(ctx, s.service.addr, distribute(sets[i].requests, throughput), length)
			return err
		}); err != nil {
			return costs, err
		}
	}
	for i, title := range []string{
		"", "forms of a space, repeated", "1,000 forms of a grant, repeated",
		"", "draft forms of a space", "draft forms of a grant",
		"", "home page of somebody in 200 spaces", "home page of a space",
	} {
		if title != "" {
			costs.lines = append(costs.lines, spaceLine{title, measured[i-i%3].cpu, measured[i].cpu})
		}
	}
	return costs, nil
}
