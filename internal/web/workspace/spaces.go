package workspace

import (
	"net/http"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// spacesPage lists the spaces that a user can use, and creates shared ones.
type spacesPage struct {
	page.Layout
	List []store.Space // of others
	Name string        // as posted
}

var spacesNotices = map[string]string{
	"left":    "You left the space.",
	"deleted": "Space deleted.",
}

// ListSpaces lists the spaces that the user can use.
func (pages *Pages) ListSpaces(req *page.Request) error {
	return pages.renderSpaces(req, http.StatusOK, nil)
}

func (pages *Pages) renderSpaces(req *page.Request, status int, list page.Problems) error {
	p := &spacesPage{Layout: page.Layout{TitleKey: "Spaces", Section: "spaces", Problems: list}, Name: req.Field("name")}
	p.NoticeKey = spacesNotices[req.URL.Query().Get("done")]
	var err error
	if p.List, err = pages.Store.Spaces(req.Context(), req.User.ID); err != nil {
		return err
	}
	return pages.templates.Render(req, status, "spaces", p)
}

// CreateSpace creates a shared space and shows its members.
func (pages *Pages) CreateSpace(req *page.Request) error {
	name, err := account.ParseSpaceName(req.Field("name"))
	now := pages.Now()
	space := store.Space{Key: id.New(id.User, now), Name: name}
	if err == nil {
		err = pages.Store.AddSpace(req.Context(), space, *req.User, now)
	}
	if err != nil {
		list, other := spaceProblems(err, "name")
		if other != nil {
			return other
		}
		return pages.renderSpaces(req, http.StatusUnprocessableEntity, list)
	}
	pages.Sessions.ChooseSpace(req, space.Key)
	return req.Redirect(spacePath(space.Key) + "?done=created")
}

// spaceProblems returns an error that the user can correct as the problem of a control, and any
// other one unchanged.
func spaceProblems(err error, control string) (page.Problems, error) {
	if code := fault.Wrap(err).Code; code == fault.Conflict || code == fault.QuotaReached {
		return page.Problems{control: fault.Wrap(err)}, nil
	}
	return page.NewProblems(err)
}

func spacePath(space string) string { return "/spaces/" + account.SpaceID(space) }

// SwitchSpace makes a space the one that the user works in.
func (pages *Pages) SwitchSpace(req *page.Request) error {
	pages.Sessions.ChooseSpace(req, req.Owner())
	return req.Redirect("/")
}
