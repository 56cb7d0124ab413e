package workspace

import (
	"strconv"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// retentionSettings say how long a form keeps its responses, on the share page.
type retentionSettings struct {
	Retention store.Retention
	Days      string // as in the control
	IsWaiting bool   // nothing is deleted yet
}

func (pages *Pages) retentionSettings(req *page.Request, formID string) (s retentionSettings, err error) {
	if s.Retention, err = pages.Store.Retention(req.Context(), req.Owner(), formID); err != nil {
		return s, err
	}
	s.IsWaiting = pages.Now().Before(s.Retention.StartsAt)
	if s.Retention.Days > 0 {
		s.Days = strconv.FormatInt(s.Retention.Days, 10)
	}
	if req.PostForm.Has("days") {
		s.Days = req.Field("days")
	}
	return s, nil
}

// ChangeRetention saves how long a form keeps its responses.
func (pages *Pages) ChangeRetention(req *page.Request) error {
	formID := req.PathValue("id")
	var days int64
	var err error
	if text := strings.TrimSpace(req.Field("days")); text != "" {
		if days, err = strconv.ParseInt(text, 10, 64); err != nil || days == 0 {
			days, err = 0, fault.InvalidField("days", "enter a whole number or leave this blank")
		}
	}
	if err == nil {
		change := store.RetentionChange{Days: days, Check: func(stored int64) error { return checkSeen(req, seenValue(stored), seenValue(days)) }}
		_, err = pages.Store.SetRetention(req.Context(), req.Owner(), formID, change, pages.Now())
	}
	if list, changed, other := settingsProblems(err); err != nil && other == nil {
		view := shareView{problems: list}
		if changed {
			view.changed = "retention"
		}
		return pages.renderShare(req, statusOf(changed), view)
	}
	if err != nil {
		return err
	}
	return req.Redirect("/forms/" + formID + "/share?done=retention#retention")
}
