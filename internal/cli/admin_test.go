package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// adminAddress is the admin address that a service logged.
func adminAddress(t *testing.T, s *clitest.Service) string {
	t.Helper()
	started := regexp.MustCompile(`admin server started.*address=(\S+)`)
	var match []string
	if !clitest.WaitFor(func() bool { match = started.FindStringSubmatch(s.Log()); return match != nil }) {
		t.Fatalf("no admin address in\n%s", s.Log())
	}
	return match[1]
}

// Profiles are at the addresses that go tool pprof and others expect.
func TestProfiles(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.MigratedSQLite(t), "--admin-addr=127.0.0.1:0")
	address := adminAddress(t, s)
	for path, want := range map[string]string{
		"": "200 profile\nallocs\n", "goroutine?debug=1": "200 goroutine profile", "heap?gc=1&debug=1": "200 heap profile", "profile?seconds=1": "200 \x1f\x8b", "profile?seconds=1000": "400 seconds must be", "nothing": "404 there is no",
	} {
		res, err := http.Get("http://" + address + "/debug/pprof/" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if got := fmt.Sprintf("%d %s", res.StatusCode, body); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %.100q, %v", path, got, err)
		}
	}
}
