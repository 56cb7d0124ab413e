package cli_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// TestIdleSockets: idle connections of one address, more than the service allows in
// total, do not keep others from pages, the API or the probes.
func TestIdleConnections(t *testing.T) {
	s := clitest.Start(t, storetest.MigratedSQLite(t), "--max-connections=100", "--max-connections-per-address=100")
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.2")}}
	var idle []net.Conn
	for range 290 {
		c, err := dialer.Dial("tcp", strings.TrimPrefix(s.Local, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	other := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string]int{"/readyz": 200, "/signin": 200, "/api/v1/me": 401} {
		res, err := other.Get(s.Local + path)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != want {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	if !strings.Contains(s.Log(), `level=WARN msg="connection limit reached`) {
		t.Errorf("the log does not mention the limit:\n%s", s.Log())
	}
	for _, c := range idle {
		c.Close() // otherwise shutdown waits some seconds for their first request
	}
}
