//go:build million

package web_test

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

var nextPart = regexp.MustCompile(`data-scan="([^"]*)"`)

// TestMillionResponses measures the list of a form with 1,000,000 responses on SQLite:
//
//	go test ./internal/web -tags million -run TestMillionResponses -count 1 -v
//
// RESPONSES sets another number. It prints times and checks none.
func TestMillionResponses(t *testing.T) {
	count, err := strconv.Atoi(os.Getenv("RESPONSES"))
	if err != nil {
		count = 1_000_000
	}
	storage := storetest.SQLite(t)
	s := clitest.Start(t, storage)
	_, id := publishAsAda(t, s, listForm)
	storeMany(t, storetest.Open(t, storage), id, count)
	b := s.Browser()
	b.SignIn(ada)
	base := "/forms/" + id + "/responses"
	saved := b.Post(base+"/views", url.Values{"name": {"Tea"}, "kept": {"where=drink:equals:t&days=30"}}).Header.Get("Location")
	t.Logf("%-44s %8s %8s %8s %6s", "page", "first", "longest", "in all", "parts")
	for _, path := range []string{
		base, base + "?page=20000", base + "?order=oldest", base + "?days=7", base + "?days=365", base + "?status=new", base + "?status=done", base + "?starred=1", base + "?tag=vip",
		base + "?where=drink:equals:t", base + "?where=cost:at_least:4999", base + "?where=cost:at_least:6000", base + "?where=days:contains:fr", base + "?where=on:greater:2026-03-01",
		base + "?where=note:not_answered:", base + "?where=who.given:contains:zzz", base + "?search=lamp", base + "?search=zebra", base + "?where=drink:equals:t&where=cost:at_least:4000&search=lamp",
		base + "?sort=cost", base + "?days=2&sort=cost", saved,
	} {
		began := time.Now()
		page := b.Get(path)
		first := time.Since(began)
		longest, parts := first, 1
		for next := nextPart.FindStringSubmatch(page.Text); next != nil; next = nextPart.FindStringSubmatch(page.Text) {
			part := time.Now()
			page = b.Get(html.UnescapeString(next[1]))
			longest, parts = max(longest, time.Since(part)), parts+1
		}
		t.Logf("%-44s %8s %8s %8s %6d", strings.TrimPrefix(path, base), first.Round(time.Millisecond), longest.Round(time.Millisecond), time.Since(began).Round(time.Millisecond), parts)
	}
	for name, values := range map[string]url.Values{"columns": {"column": {"cost", "drink", "note"}}, "table": {"layout": {"table"}}} {
		began := time.Now()
		b.Get(b.Post(base+"/layout", values).Header.Get("Location"))
		t.Logf("%-44s %8s", "change of "+name, time.Since(began).Round(time.Millisecond))
	}
}

// storeMany stores responses that are spread over a year.
func storeMany(t *testing.T, db *store.Store, id string, count int) {
	t.Helper()
	ctx := context.Background()
	f, err := db.PublicForm(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	start, pace := time.Now().AddDate(-1, 0, 0), 365*24*time.Hour/time.Duration(count)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range 512 {
		workers.Go(func() {
			for i := int(next.Add(1)); i <= count; i = int(next.Add(1)) {
				answers := map[string]any{
					"who": map[string]any{"given": fmt.Sprintf("Person %d", i), "family": "Example"}, "drink": []string{"t", "c"}[i%2], "days": []string{"fr", "sa"}[:1+i%2],
					"on": fmt.Sprintf("2026-%02d-%02d", 1+i%12, 1+i%28), "from": "DE", "cost": float64(i % 5000),
				}
				if i%3 > 0 {
					answers["note"] = strings.Repeat("We look forward to the weekend and bring our own mugs. ", 1+i%4) + []string{"", "A lamp would be nice."}[i%100/99]
				}
				if _, err := db.SubmitResponse(ctx, store.Submission{Form: f, Answers: answers, Metadata: form.Metadata{Source: "page"}, At: start.Add(time.Duration(i) * pace)}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
}
