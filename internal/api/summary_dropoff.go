package api

import (
	"context"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

type dropOffInput struct {
	formInput
	Since string `query:"since" maxLength:"40" doc:"From the day (UTC) of this time (RFC 3339)" example:"2026-05-31T00:00:00Z"`
	Until string `query:"until" maxLength:"40" doc:"Up to this time (RFC 3339), including the whole day (UTC) in which it is"`
}

// DropOff is how far visits of a form got.
type DropOff struct {
	Counted       bool          `json:"counted" doc:"Whether visits are counted now: not if the published version has forget_visits in its settings"`
	Opened        int64         `json:"opened" doc:"How often the form was opened" example:"120"`
	Finished      int64         `json:"finished" doc:"Visits that ended with a response" example:"97"`
	MedianSeconds *int64        `json:"median_seconds,omitempty" doc:"Half of the respondents took less time from opening the form to submitting it; accurate to 10 %" example:"220"`
	Pages         []PageDropOff `json:"pages" nullable:"false" doc:"Pages of the published version, or its questions if they are shown one at a time. They include the visits of earlier versions with the same pages."`
	NotByPage     int64         `json:"not_by_page" doc:"Visits of versions with other pages, which pages does not include" example:"0"`
}

// PageDropOff is how many visits reached a page.
type PageDropOff struct {
	Key     string `json:"key,omitempty" doc:"Key of the page break that starts the page, or of the question; empty for the first page and the welcome page" example:"details"`
	Label   string `json:"label,omitempty" doc:"Its label" example:"Your details"`
	Reached int64  `json:"reached" doc:"Visits that reached the page" example:"110"`
	Left    int64  `json:"left" doc:"Visits that reached no later page and were not submitted" example:"8"`
}

func (a *API) readDropOff() typedOperation[*dropOffInput, *DropOff] {
	return typedOperation[*dropOffInput, *DropOff]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/drop-off", ID: "readDropOff", Tag: "Responses", Status: 200,
			Scope:       account.ResponsesRead,
			Summary:     "Get the drop-off",
			Description: "Returns how many visits reached each page of the form. Only the public page counts visits, without cookies, in sums per day. New counts appear after some seconds.",
			Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *dropOffInput) (*DropOff, reply, error) {
			times, err := period(in.Since, in.Until)
			if err != nil {
				return nil, reply{}, err
			}
			d, err := a.Store.DropOff(ctx, c.Owner(), in.ID, times[0].UTC(), times[1].UTC())
			return dropOffResult(d), reply{}, err
		},
	}
}

func dropOffResult(d store.DropOff) *DropOff {
	out := &DropOff{Counted: d.Counted, Opened: d.Opened, Finished: d.Finished, Pages: []PageDropOff{}, NotByPage: d.OtherScreens}
	if d.Median > 0 {
		seconds := int64(d.Median.Seconds())
		out.MedianSeconds = &seconds
	}
	for _, screen := range d.Screens {
		p := PageDropOff{Reached: screen.Reached, Left: screen.Left}
		if screen.Field != nil {
			p.Key, p.Label = screen.Field.Key, screen.Field.Label
		}
		out.Pages = append(out.Pages, p)
	}
	return out
}
