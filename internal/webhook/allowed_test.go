package webhook_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"formulary/internal/fault"
	"formulary/internal/webhook"
)

func allowed(t *testing.T, list ...string) webhook.Allowed {
	t.Helper()
	a, err := webhook.ParseAllowed(list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const public = "93.184.215.14"
	for _, c := range []struct {
		url   string
		names string // what names are resolved to
		allow string
		ok    bool
	}{
		{"https://example.com/hook", public, "", true},
		{"https://example.com:8443/hook?x=1", public, "", true},
		{"https://" + public + "/", "", "", true},
		{"https://[2606:4700::1111]/", "", "", true},
		{"HTTPS://EXAMPLE.com./", public, "", true},
		{"http://example.com/", public, "", false},
		{"http://example.com/", public, "10.0.0.0/8", false},
		{"ftp://example.com/", public, "", false},
		{"https:example.com", public, "", false},
		{"https:///hook", public, "", false},
		{"https://example.com:0/", public, "", false},
		{"https://example.com:99999/", public, "", false},
		{"https://ada@example.com/", public, "", false},
		{"https://ada:secret@example.com/", public, "", false},
		{"https://example.com/#part", public, "", false},
		{"https://exa mple.com/", public, "", false},
		{"https://example..com/", public, "", false},
		{"https://" + strings.Repeat("a", 2000) + ".com/", public, "", false},
		// Addresses that are not public, in all spellings.
		{"https://127.0.0.1/", "", "", false},
		{"https://127.1/", "", "", false},
		{"https://2130706433/", "", "", false},
		{"https://0x7f000001/", "", "", false},
		{"https://0x7f.1/", "", "", false},
		{"https://017700000001/", "", "", false},
		{"https://10.1.2.3/", "", "", false},
		{"https://172.16.0.1/", "", "", false},
		{"https://192.168.1.1/", "", "", false},
		{"https://169.254.169.254/latest/meta-data", "", "", false},
		{"https://100.64.0.1/", "", "", false},
		{"https://0.0.0.0/", "", "", false},
		{"https://224.0.0.1/", "", "", false},
		{"https://255.255.255.255/", "", "", false},
		{"https://[::]/", "", "", false},
		{"https://[::1]/", "", "", false},
		{"https://[::ffff:127.0.0.1]/", "", "", false},
		{"https://[::ffff:7f00:1]/", "", "", false},
		{"https://[fe80::1%25eth0]/", "", "", false},
		{"https://[fd00::1]/", "", "", false},
		{"https://[64:ff9b::7f00:1]/", "", "", false},
		{"https://[2002:7f00:1::]/", "", "", false},
		{"https://[ff02::1]/", "", "", false},
		{"https://inside.example/", "10.0.0.1", "", false},
		{"https://inside.example/", "::1", "", false},
		// What the administrator allows.
		{"http://127.0.0.1:9000/", "", "127.0.0.0/8", true},
		{"http://[::ffff:127.0.0.1]:9000/", "", "127.0.0.0/8", true},
		{"http://[::1]:9000/", "", "::1", true},
		{"https://10.0.0.7/", "", "10.0.0.7", true},
		{"https://10.0.0.8/", "", "10.0.0.7", false},
		{"http://inside.example/", "10.0.0.1", "10.0.0.0/8", true},
		{"http://inside.example/", "10.0.0.1", "Inside.Example", true},
		{"http://other.example/", "10.0.0.1", "inside.example", false},
	} {
		rules := allowed(t, strings.Split(c.allow, ",")...)
		if c.names != "" {
			rules = rules.WithResolver(c.names)
		}
		err := rules.Check(context.Background(), c.url)
		if (err == nil) != c.ok {
			t.Errorf("%s (allowed: %q): %v", c.url, c.allow, err)
		}
		if e := fault.Wrap(err); err != nil && (e.Code != fault.Invalid || len(e.Details) != 1 || e.Details[0].Field != "url") {
			t.Errorf("%s: %v", c.url, err)
		}
	}
}

func TestParseAllowed(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"10.0.0.0/33", "https://example.com", "127.1", "fe80::1%eth0", "a b"} {
		if _, err := webhook.ParseAllowed([]string{bad}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// The address is checked when the connection is made, whatever the name was resolved to
// before.
func TestDialledAddress(t *testing.T) {
	t.Parallel()
	hits := 0
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	receiver.StartTLS()
	defer receiver.Close()
	_, port, err := net.SplitHostPort(receiver.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// When it was checked, the name had a public address.
	rebinding := allowed(t).WithResolver("93.184.215.14")
	if err := rebinding.Check(context.Background(), "https://localhost:"+port+"/"); err != nil {
		t.Fatal(err)
	}
	client := webhook.NewClient("test", rebinding)
	for _, host := range []string{"localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0"} {
		for _, scheme := range []string{"https", "http"} {
			result := client.Send(context.Background(), webhook.Request{URL: scheme + "://" + host + ":" + port + "/", ID: "evt_1"})
			if result.Status != 0 || result.Err == nil || result.Problem() == "" {
				t.Errorf("%s://%s: %+v", scheme, host, result)
			}
			if host == "127.0.0.1" && !errors.Is(result.Err, webhook.ErrForbidden) {
				t.Errorf("%s://%s: %v", scheme, host, result.Err)
			}
		}
	}
	if hits != 0 {
		t.Errorf("%d requests arrived", hits)
	}
}
