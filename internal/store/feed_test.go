package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Pages of the feed and chunks of an export are limited in bytes: with large responses,
// both still return each response once, in order.
func TestFeedIsBoundedInBytes(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, textForm)
		const n, length = 50, 200_000
		var want []string
		for range n {
			r, err := addText(t, s, f, strings.Repeat("x", length))
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, r.ID)
		}
		var got []string
		pages := 0
		for after, more := "", true; more; pages++ {
			page, err := s.Feed(ctx, owner, f.ID, store.ResponseFilter{}, store.FeedPage{After: after, Limit: 1000})
			list := page.Responses
			if err != nil || len(list) == 0 {
				t.Fatalf("after %d: %d responses, %v", len(got), len(list), err)
			}
			if len(list)*length > 5<<20 {
				t.Errorf("a page of %d responses", len(list))
			}
			more, after = page.More, page.Next
			for _, r := range list {
				got = append(got, r.ID)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") || pages < 2 {
			t.Errorf("%d pages have %d of %d responses, or the order is wrong", pages, len(got), n)
		}
		for name, filter := range map[string]store.ResponseFilter{"newest": {}, "oldest": {Oldest: true}, "search": {Search: "xx"}} {
			if list, total, err := s.Responses(ctx, owner, f.ID, filter, store.Page{Limit: 25}); err != nil || len(list) != 25 || total != n {
				t.Errorf("%s: a page has %d of %d, %v", name, len(list), total, err)
			}
			if _, _, err := s.Responses(ctx, owner, f.ID, filter, store.Page{Limit: n}); !errors.Is(err, store.ErrPageTooLarge) {
				t.Errorf("%s: a page of 10 MB: %v", name, err)
			}
		}
		var exported []string
		if err := s.StreamResponses(ctx, owner, f.ID, store.ResponseFilter{}, func(r form.Response) error {
			exported = append(exported, r.ID)
			return nil
		}); err != nil || strings.Join(exported, " ") != strings.Join(want, " ") {
			t.Errorf("exported %d of %d, or in the wrong order, %v", len(exported), n, err)
		}
	})
}

// Pages of any length, in responses or bytes, have the same responses in the same order, each once,
// however restored ones lie between the others.
func TestFeedPages(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, textForm)
		var ids, want []string
		texts := map[string]string{}
		add := func(n int) {
			for range n {
				text := strings.Repeat("x", 10+len(ids))
				r, err := addText(t, s, f, text)
				if err != nil {
					t.Fatal(err)
				}
				ids, want = append(ids, r.ID), append(want, r.ID)
				texts[r.ID] = text
			}
		}
		restore := func(which ...string) {
			if _, err := s.DeleteResponsesWithUndo(ctx, owner, f.ID, which, time.Now()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.RestoreResponses(ctx, owner, f.ID, which, time.Now()); err != nil {
				t.Fatal(err)
			}
			want = slices.DeleteFunc(want, func(id string) bool { return slices.Contains(which, id) })
			want = append(want, which...)
		}
		add(6)
		restore(ids[1:5]...)
		add(3)
		restore(ids[0])
		restore(ids[2], ids[7])
		add(1)
		restore(ids[6])
		add(3) // no restored response comes after these
		for limit := int64(1); limit <= int64(len(want))+1; limit++ {
			for _, bytes := range []int{0, 1, 60, 100} {
				var got []string
				for after, more := "", true; more; {
					page := store.FeedPage{After: after, Limit: limit, Bytes: bytes}
					size, n := 0, int64(0)
					end, err := s.ReadFeed(ctx, owner, f.ID, store.ResponseFilter{}, page, func(r *form.StoredResponse) {
						if bytes > 0 && size >= bytes || n == limit {
							t.Errorf("limit %d, %d bytes: a page of %d responses and %d bytes is not the last", limit, bytes, n, size)
						}
						size, n = size+len(r.JSON), n+1
						response := r.Response()
						if answers, err := response.Answers(); err != nil || answers["text"] != texts[response.ID] {
							t.Errorf("%s has the answers %s, %v", response.ID, r.JSON, err)
						}
						got = append(got, response.ID)
					})
					if err != nil || n == 0 || end.Next == after {
						t.Fatalf("limit %d, %d bytes, after %q: %d responses, %+v, %v", limit, bytes, after, n, end, err)
					}
					after, more = end.Next, end.More
				}
				if strings.Join(got, " ") != strings.Join(want, " ") {
					t.Errorf("limit %d, %d bytes:\n%v, want\n%v", limit, bytes, got, want)
				}
			}
		}
	})
}
