package cli_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// Idle sockets of one address, more than the service has room for, keep nobody else
// out: not from a page, not from the API, not from the probes.
func TestIdleSockets(t *testing.T) {
	s := clitest.Start(t, storetest.SQLite(t), "--max-connections=100", "--max-connections-per-address=100")
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.2")}}
	var idle []net.Conn
	for range 290 {
		c, err := dialer.Dial("tcp", strings.TrimPrefix(s.Local, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	stranger := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string]int{"/readyz": 200, "/signin": 200, "/api/v1/me": 401} {
		res, err := stranger.Get(s.Local + path)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != want {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	if !strings.Contains(s.Log(), `level=WARN msg="connection limit reached`) {
		t.Errorf("the log says nothing of it:\n%s", s.Log())
	}
	for _, c := range idle {
		c.Close() // a stop gives sockets that never spoke some seconds to begin
	}
}
