package api_test

import (
	"net/url"
	"testing"
	"time"
)

// A summary has the filters of the list, the period before, and two questions counted
// together.
func TestSummaryOfSome(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path, sent := w.fill()
		get := func(query ...string) map[string]any {
			values := url.Values{}
			for i := 0; i < len(query); i += 2 {
				values.Set(query[i], query[i+1])
			}
			return w.Call("GET", path+"/summary?"+values.Encode(), w.ada, "").Body
		}
		count := func(body map[string]any) any { return body["responses"] }
		w.expectEqual("coming", count(get("answers[coming]", "true")), 2.0)
		w.expectEqual("score", count(get("answers[nps:at_least]", "9", "search", "sure")), 1.0)
		cross := get("rows", "coming", "columns", "food")["cross"].(map[string]any)
		cells := cross["cells"].([]any)
		w.expectEqual("crossed", cross["responses"], 3.0)
		w.expectEqual("pairs", len(cells), 3)
		w.expectEqual("coming for soup", cells[1], map[string]any{"row": "true", "column": "soup", "count": 2.0})

		submitted, err := time.Parse(time.RFC3339, sent[0].String("submitted_at"))
		if err != nil {
			t.Fatal(err)
		}
		day := func(n int) string { return submitted.AddDate(0, 0, n).Format(time.RFC3339) }
		last := get("since", day(1), "until", day(3), "compare", "previous")
		w.expectEqual("later", count(last), 0.0)
		// The time is in the future, where no period can end.
		w.expectEqual("previous of later", count(last["previous"].(map[string]any)), 0.0)
		now := get("since", day(-1), "compare", "previous", "answers[coming]", "true")
		w.expectEqual("now", count(now), 2.0)
		before := now["previous"].(map[string]any)
		w.expectEqual("before", before["until"], submitted.AddDate(0, 0, -1).UTC().Truncate(time.Second).Format(time.RFC3339))
		w.expectEqual("none before", count(before), 0.0)

		// In UTC, these times are in the years -1 and 10000.
		for since, want := range map[string]string{"0000-01-01T00:00:00+23:59": "1970-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59": "9999-12-31T23:59:59.999Z"} {
			extreme := get("since", since, "compare", "previous")["previous"].(map[string]any)
			w.expectEqual("until "+since, extreme["until"], want)
			w.expectEqual("before "+since, count(extreme), 0.0)
		}
		for _, wrong := range []string{"compare=previous", "compare=x", "rows=coming", "rows=coming&columns=song", "rows=food&columns=food", "answers[x]=1", "since=x"} {
			w.expectCode(wrong, w.Call("GET", path+"/summary?"+wrong, w.ada, ""), 400001)
		}
		w.expectCode("Bob", w.Call("GET", path+"/summary?rows=coming&columns=food", w.bob, ""), 404002)
	})
}
