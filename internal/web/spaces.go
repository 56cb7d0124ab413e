package web

import (
	"errors"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
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
	if _, ok := id.Parse(id.Form, formID); !ok && formID != "" {
		return fault.NotFound
	}
	space, err := req.PathSpace()
	if err != nil {
		return err
	}
	switch {
	case space != "":
		req.Access, err = web.sessions.Store.Access(req.Context(), req.User.ID, space)
	case req.Session.InOtherSpaces:
		req.Access, err = web.accessTo(req, formID)
	}
	if err != nil {
		return err
	}
	if err := req.Access.Check(asked.needs, formID); err != nil {
		return err
	}
	if asked.whole {
		return req.Access.Check(asked.needs, "")
	}
	return nil
}

// accessTo returns the access of a user who can use several spaces.
func (web *Handler) accessTo(req *page.Request, formID string) (account.Access, error) {
	store, person := web.sessions.Store, req.User.ID
	if formID != "" {
		space, err := store.SpaceOfForm(req.Context(), formID)
		if err == nil {
			access, err := store.Access(req.Context(), person, space)
			if err == nil {
				web.follow(req, space)
			}
			return access, err
		}
		if !errors.Is(err, fault.NotFound) {
			return account.Access{}, err
		}
		// The form was deleted, and can be restored in the space that the user has chosen.
	}
	access, err := store.Access(req.Context(), person, req.ChosenSpace())
	if errors.Is(err, fault.NotFound) { // they have left it since
		return account.OwnSpace(person), nil
	}
	return access, err
}

// follow switches to the space of a form that the user opens, so that the list of forms is the one
// that the form is in.
func (web *Handler) follow(req *page.Request, space string) {
	if chosen := req.ChosenSpace(); strings.HasPrefix(req.URL.Path, "/forms/") && space != chosen && (space != req.User.ID || chosen != "") {
		web.sessions.ChooseSpace(req, space)
	}
}
