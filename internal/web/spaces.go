package web

import (
	"errors"
	"net/http"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/web/page"
)

// enterSpace decides whose data the page shows, and whether the user may do what the route is for.
// A page of a form is in the space of the form, and one whose path names a space is in that space.
// Others are in the space that the user has chosen.
func (web *Handler) enterSpace(req *page.Request, asked access) error {
	if asked.needs == "" {
		return nil
	}
	req.Access = account.OwnSpace(req.User.ID)
	formID := req.FormID()
	if space := req.SpaceID(); space != "" {
		var err error
		if req.Access, err = web.sessions.Store.Access(req.Context(), req.User.ID, space); err != nil {
			return err
		}
	} else if req.Session.InOtherSpaces {
		var err error
		if req.Access, err = web.accessTo(req, formID); err != nil {
			return err
		}
	}
	if err := req.Access.Check(asked.needs, formID); err != nil || !asked.whole {
		return err
	}
	return req.Access.Check(asked.needs, "")
}

// accessTo returns the access of a user who can use several spaces.
func (web *Handler) accessTo(req *page.Request, formID string) (account.Access, error) {
	store, person := web.sessions.Store, req.User.ID
	if formID != "" {
		space, err := store.SpaceOfForm(req.Context(), formID)
		if err == nil {
			return store.Access(req.Context(), person, space)
		}
		if !errors.Is(err, fault.NotFound) {
			return account.Access{}, err
		}
		// The form was deleted, and can be restored in the space that the user has chosen.
	}
	access, err := store.Access(req.Context(), person, chosenSpace(req.Request))
	if errors.Is(err, fault.NotFound) { // they have left it since
		return account.OwnSpace(person), nil
	}
	return access, err
}

// chosenSpace returns the space that the user has switched to; empty: their own.
func chosenSpace(r *http.Request) string {
	cookie, err := r.Cookie(page.SpaceCookie)
	if err != nil {
		return ""
	}
	space, _ := account.ParseSpaceID(cookie.Value)
	return space
}
