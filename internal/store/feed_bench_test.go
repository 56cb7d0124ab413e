package store_test

import (
	"fmt"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// BenchmarkFeed reads 100 responses as the API sends them.
func BenchmarkFeed(b *testing.B) {
	s := storetest.Open(b, storetest.SQLite(b))
	owner := addUser(b, s, "ada@example.com").ID
	f := openForm(b, s, owner, textForm)
	for i := range 200 {
		text := fmt.Sprintf("The service was quick and friendly, but your form on a phone is long; please let us come back later, respondent %d. "+
			"We would like more examples for teams and schools, and prices are fine.", i)
		if _, err := s.SubmitResponse(ctx, store.Submission{Form: f, Answers: map[string]any{"text": text}, At: time.Now()}); err != nil {
			b.Fatal(err)
		}
	}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = out[:0]
		n := 0
		if _, err := s.ReadFeed(ctx, owner, f.ID, store.ResponseFilter{}, store.FeedPage{Limit: 100}, func(r *form.StoredResponse) {
			out = r.AppendJSON(out, "https://forms.example.com")
			n++
		}); err != nil || n != 100 {
			b.Fatal(n, err)
		}
	}
}
