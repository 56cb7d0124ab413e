package workspace

import (
	"context"
	"errors"
	"net/http"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// moveTime is how long a request waits for a move. The rest is done in the background.
const moveTime = 5 * time.Second

// moveTargets lists the spaces to which the user may move a form of this space; none: they may
// not.
func (pages *Pages) moveTargets(req *page.Request) ([]store.Space, error) {
	if req.Access.Check(account.SpaceManage, "") != nil {
		return nil, nil
	}
	spaces, err := pages.Store.Spaces(req.Context(), req.User.ID)
	if err != nil {
		return nil, err
	}
	own := store.Space{Key: req.User.ID, Name: req.User.DisplayName(), Role: account.Owner}
	var targets []store.Space
	for _, space := range append([]store.Space{own}, spaces...) {
		if space.Key != req.Owner() && space.Role.Allows(account.FormsWrite) {
			targets = append(targets, space)
		}
	}
	return targets, nil
}

// StartMove moves the form to another space.
func (pages *Pages) StartMove(req *page.Request) error {
	owner, formID := req.Owner(), req.PathValue("id")
	to, ok := account.ParseSpaceID(req.Field("space"))
	if !ok {
		return pages.renderShare(req, http.StatusUnprocessableEntity, shareView{problems: page.Problems{"space": fault.Messagef("choose a space")}})
	}
	access, err := pages.Store.Access(req.Context(), req.User.ID, to)
	if err == nil {
		err = access.Check(account.FormsWrite, "")
	}
	if err == nil {
		err = pages.Store.ManagedBy(req.User.ID).StartMove(req.Context(), owner, formID, to, pages.Now())
	}
	switch fault.Wrap(err).Code {
	case fault.QuotaReached, fault.Conflict:
		if err != nil {
			return pages.renderShare(req, http.StatusConflict, shareView{problems: page.Problems{"space": fault.Wrap(err)}})
		}
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(req.Context(), moveTime)
	defer cancel()
	if err := pages.Store.ContinueMove(ctx, owner, formID, pages.Now()); err != nil {
		pages.Site.Log.Warn("a move continues in the background", "error", err, "form", formID)
	}
	return req.Redirect("/forms/" + formID + "/move")
}

// movePage shows how far a move is.
type movePage struct {
	page.Layout
	Move  store.Move
	Space store.Space // empty: the user may not know it
}

// ShowMove shows how far the move of a form is, until the form is in its new space.
func (pages *Pages) ShowMove(req *page.Request) error {
	formID := req.PathValue("id")
	move, err := pages.Store.Move(req.Context(), req.Owner(), formID)
	if errors.Is(err, fault.NotFound) {
		if _, err := pages.Store.Form(req.Context(), req.Owner(), formID); err != nil {
			return err
		}
		return req.Redirect("/forms/" + formID + "/share?done=moved")
	}
	if err != nil {
		return err
	}
	p := &movePage{Layout: page.Layout{TitleKey: "Moving form", Section: "forms"}, Move: move}
	if _, err = pages.Store.Access(req.Context(), req.User.ID, move.To); err == nil {
		p.Space, err = pages.Store.Space(req.Context(), move.To)
	}
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	req.W.Header().Set("Refresh", "2")
	return pages.templates.Render(req, http.StatusOK, "move", p)
}
