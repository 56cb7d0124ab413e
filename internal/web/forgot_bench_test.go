package web_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/mail/mailtest"
	"formulary/internal/store/storetest"
)

// BenchmarkForgot compares how long /forgot takes for addresses with an account and without.
func BenchmarkForgot(b *testing.B) {
	for name, open := range map[string]func(testing.TB) storetest.Storage{"SQLite": storetest.SQLite, "PostgreSQL": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			storage := open(b)
			server := mailtest.Start(b, mailtest.WithoutTLS)
			service := clitest.Start(b, storage, "--smtp-url=smtp://"+server.Address+"?tls=none", "--mail-from=forms@example.org", "--trusted-proxies=127.0.0.1")
			db, browser := storetest.Open(b, storage), service.Browser()
			ask := func(n int, email string) float64 {
				begun := time.Now()
				// Each from a network of its own, because networks have limits.
				p := browser.PostAs(b, fmt.Sprintf("10.%d.%d.1", n>>8, n&255), "/forgot", url.Values{"email": {email}})
				if p.StatusCode != 200 {
					b.Fatalf("%s: %d", email, p.StatusCode)
				}
				return time.Since(begun).Seconds() * 1e6
			}
			var known, unknown []float64
			n := 0
			for b.Loop() {
				n++
				email := fmt.Sprintf("person%d@example.com", n)
				if _, err := db.AddUser(b.Context(), account.User{ID: fmt.Sprintf("usr_%022d", n), Email: email, Name: "Person", Language: "en", CreatedAt: time.Now()}); err != nil {
					b.Fatal(err)
				}
				// In turn, because the second may find the machine busy with the first.
				if n%2 == 0 {
					known = append(known, ask(n, email))
				}
				unknown = append(unknown, ask(n, "no-"+email))
				if n%2 == 1 {
					known = append(known, ask(n, email))
				}
			}
			b.ReportMetric(median(known), "µs/known")
			b.ReportMetric(median(unknown), "µs/unknown")
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
