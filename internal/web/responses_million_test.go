//go:build million

package web_test

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestMillionResponses measures the list and the summary of a form with 1,000,000 responses on
// SQLite:
//
//	go test ./internal/web -tags million -run TestMillionResponses -count 1 -v
//
// RESPONSES sets another number. With MILLION_DATA, the data stay in that directory for the
// next run. It prints times and checks none. "first" is how long people wait for the page;
// later parts load behind a progress bar that can be stopped.
func TestMillionResponses(t *testing.T) {
	count, err := strconv.Atoi(os.Getenv("RESPONSES"))
	if err != nil {
		count = 1_000_000
	}
	storage := storetest.SQLite(t)
	if dir := os.Getenv("MILLION_DATA"); dir != "" {
		storage.Data = dir
	}
	s := clitest.Start(t, storage)
	b := s.Browser()
	id, err := os.ReadFile(filepath.Join(storage.Data, "million-form"))
	if err != nil {
		_, made := publishAsAda(t, s, listForm)
		storeMany(t, storetest.Open(t, storage), made, count)
		id = []byte(made)
		if err := os.WriteFile(filepath.Join(storage.Data, "million-form"), id, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.SignIn(ada)
	base := "/forms/" + string(id) + "/responses"
	saved := b.Post(base+"/views", url.Values{"name": {"Tea"}, "kept": {"where=drink:equals:t&days=30"}}).Header.Get("Location")
	t.Logf("%-60s %8s %8s %8s %6s", "page", "first", "longest", "in all", "parts")
	for _, path := range []string{
		base, base + "?page=20000", base + "?order=oldest", base + "?days=7", base + "?days=365", base + "?status=new", base + "?status=done", base + "?status=done&order=oldest", base + "?starred=1", base + "?status=done&starred=1", base + "?tag=vip",
		base + "?status=done&where=cost:at_least:4000", base + "?where=drink:equals:t", base + "?where=cost:at_least:4999", base + "?where=cost:at_least:6000", base + "?where=days:contains:fr", base + "?where=on:greater:2026-03-01",
		base + "?where=note:not_answered:", base + "?where=who.given:contains:zzz", base + "?search=lamp", base + "?search=zebra", base + "?where=drink:equals:t&where=cost:at_least:4000&search=lamp",
		base + "?sort=cost", base + "?days=2&sort=cost", saved,
	} {
		measureParts(t, b, path, strings.TrimPrefix(path, base))
	}
	for name, values := range map[string]url.Values{"columns": {"column": {"cost", "drink", "note"}}, "table": {"layout": {"table"}}} {
		began := time.Now()
		b.Get(b.Post(base+"/layout", values).Header.Get("Location"))
		t.Logf("%-60s %8s", "change of "+name, time.Since(began).Round(time.Millisecond))
	}
	summary := "/forms/" + string(id) + "/summary"
	for _, query := range []string{"", "?days=7", "?days=30&compare=1", "?days=365", "?status=done", "?starred=1", "?rows=drink&columns=days", "?days=365&rows=drink&columns=days", "?where=drink:equals:t", "?in=note&find=lamp", "?in=note&find=zebra"} {
		measureParts(t, b, summary+query, "summary"+query)
	}
}

// measureParts prints how long a page takes, and the parts that it loads afterwards.
func measureParts(t *testing.T, b *clitest.Browser, path, name string) {
	began := time.Now()
	page := b.Get(path)
	first := time.Since(began)
	if page.StatusCode != 200 {
		t.Errorf("%s: %d", name, page.StatusCode)
	}
	longest, parts := first, 1
	for next := nextPart.FindStringSubmatch(page.Text); next != nil; next = nextPart.FindStringSubmatch(page.Text) {
		part := time.Now()
		page = b.Get(html.UnescapeString(next[1]))
		longest, parts = max(longest, time.Since(part)), parts+1
	}
	t.Logf("%-60s %8s %8s %8s %6d", name, first.Round(time.Millisecond), longest.Round(time.Millisecond), time.Since(began).Round(time.Millisecond), parts)
}

// Every so many responses are marked.
const (
	doneEvery    = 1009
	starredEvery = 2003
	taggedEvery  = 5003
)

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
	var mu sync.Mutex
	marked := map[int][]string{} // IDs
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
				r, err := db.SubmitResponse(ctx, store.Submission{Form: f, Answers: answers, Metadata: form.Metadata{Source: "page"}, At: start.Add(time.Duration(i) * pace)})
				if err != nil {
					t.Error(err)
					return
				}
				for _, every := range []int{doneEvery, starredEvery, taggedEvery} {
					if i%every == 0 {
						mu.Lock()
						marked[every] = append(marked[every], r.ID)
						mu.Unlock()
					}
				}
			}
		})
	}
	workers.Wait()
	starred := true
	for every, change := range map[int]store.MarkChange{doneEvery: {Status: form.ResponseDone}, starredEvery: {Starred: &starred}, taggedEvery: {Add: []string{"vip"}}} {
		for ids := range slices.Chunk(marked[every], store.MaxMarked) {
			if _, err := db.MarkResponses(ctx, f.Owner, id, ids, change); err != nil {
				t.Fatal(err)
			}
		}
	}
}
