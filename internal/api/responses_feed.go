package api

import (
	"cmp"
	"context"
	"encoding/base64"
	"strconv"
	"time"

	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
)

// feed returns the responses after a cursor, oldest first.
func (a *API) feed(ctx context.Context, owner string, in *listResponsesInput, filter store.ResponseFilter) (*ResponseList, reply, error) {
	after, err := a.cursorID(ctx, owner, in.ID, "after", *in.After)
	if err != nil {
		return nil, reply{}, err
	}
	body := newBody(`{"data":[`)
	start := len(*body)
	end, err := a.Store.ReadFeed(ctx, owner, in.ID, filter, store.FeedPage{After: after, Limit: in.Limit}, func(r *form.StoredResponse) {
		if len(*body) > start {
			*body = append(*body, ',')
		}
		*body = r.AppendJSON(*body, a.BaseURL)
	})
	if err != nil {
		reuseBody(body)
		return nil, reply{}, err
	}
	*body = append(append(append(*body, `],"next":"`...), cursor(end.Next)...), `","more":`...)
	*body = append(strconv.AppendBool(*body, end.More), '}')
	return nil, reply{Reused: body}, nil
}

// cursor encodes the position of the last response that was read, written as the ID of a
// response. It is opaque, so that clients do not depend on its content.
func cursor(id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(id))
}

// startCursor is less than the IDs of all responses.
var startCursor = id.First(id.Response, time.UnixMilli(0))

// cursorID returns the ID in a cursor, the value of a parameter. Cursors of earlier versions contain the serial
// number of the response.
func (a *API) cursorID(ctx context.Context, owner, formID, parameter, text string) (string, error) {
	if text == "" {
		return startCursor, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil && len(raw) > 1 && raw[0] == 's' {
		if serial, err := strconv.ParseInt(string(raw[1:]), 36, 64); err == nil && serial >= 0 {
			id, err := a.Store.ResponseAt(ctx, owner, formID, serial)
			return cmp.Or(id, startCursor), err
		}
	}
	if _, ok := id.Parse(id.Response, string(raw)); err != nil || !ok {
		return "", badQuery(parameter, "is not a valid cursor")
	}
	return string(raw), nil
}
