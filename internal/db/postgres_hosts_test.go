package db

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Each server of the URL counts once, even if it can be reached in several ways, and
// the order in which servers are tried can be rotated.
func TestHosts(t *testing.T) {
	for url, want := range map[string][]string{
		"postgres://x@one:1/db?sslmode=disable":                                     {"one:1"},
		"postgres://x@one:1/db?sslmode=prefer":                                      {"one:1 tls", "one:1"},
		"postgres://x@one:1,two:2/db?sslmode=disable&target_session_attrs=any":      {"one:1", "two:2"},
		"postgres://x@one:1,one:2,two:2/db?sslmode=prefer&target_session_attrs=any": {"one:1 tls", "one:1", "one:2 tls", "one:2", "two:2 tls", "two:2"},
	} {
		config, err := pgconn.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		ways := func() []string {
			var list []string
			for _, host := range hostsOf(config) {
				for _, way := range host {
					name := fmt.Sprintf("%s:%d", way.Host, way.Port)
					if way.TLSConfig != nil {
						name += " tls"
					}
					list = append(list, name)
				}
			}
			return list
		}
		if got := ways(); !slices.Equal(got, want) {
			t.Errorf("%s: %v", url, got)
		}
		hosts := hostsOf(config)
		useHosts(config, append(slices.Clone(hosts[1:]), hosts[0])...)
		turned := append(slices.Clone(want[len(hosts[0]):]), want[:len(hosts[0])]...)
		if got := ways(); !slices.Equal(got, turned) {
			t.Errorf("%s turned: %v", url, got)
		}
	}
}
