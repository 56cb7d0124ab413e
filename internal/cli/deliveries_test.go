package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// openForm creates an open form and returns its ID and a token with all scopes.
func openForm(s *clitest.Service) (id, token string) {
	s.AddUser(ada)
	token = s.Token(ada, s.AddApp(ada, "https://app.example.com/cb"), allScopes).Access
	id = s.Call("POST", "/api/v1/forms", token, `{"title": "Order", "fields": [{"key": "note", "kind": "long_text", "label": "Note"}]}`).String("id")
	s.Call("POST", "/api/v1/forms/"+id+"/publish", token, "")
	return id, token
}

// With SQLite, the secret key is created in the data directory and used again.
func TestSecretKeyFile(t *testing.T) {
	t.Parallel()
	storage := storetest.SQLite(t)
	s := clitest.Start(t, storage, "--webhook-allow=127.0.0.1")
	key := string(s.DataFile("secret.key"))
	if len(strings.TrimSpace(key)) < 32 {
		t.Errorf("the key is %q", key)
	}
	info, err := os.Stat(filepath.Join(storage.Data, "secret.key"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("its file: %v %v", info.Mode(), err)
	}
	form, token := openForm(s)
	got := make(chan struct{}, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got <- struct{}{} }))
	defer receiver.Close()
	if a := s.Call("POST", "/api/v1/forms/"+form+"/webhooks", token, `{"url": "`+receiver.URL+`"}`); a.StatusCode != 201 {
		t.Fatalf("create: %s", a.Text)
	}
	s.Stop()
	for _, name := range []string{"formulary.db", "formulary.db-wal"} {
		if text, err := os.ReadFile(filepath.Join(storage.Data, name)); err == nil && strings.Contains(string(text), "whsec_") {
			t.Errorf("%s has a secret in plain text", name)
		}
	}
	s = clitest.Start(t, storage, "--webhook-allow=127.0.0.1")
	if again := string(s.DataFile("secret.key")); again != key {
		t.Error("the key has changed")
	}
	s.Call("POST", "/f/"+form, "", `{"answers": {"note": "x"}}`)
	<-got
}

// On PostgreSQL the service starts without a secret key, and says what is missing when a
// webhook is created.
func TestNoSecretKey(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.Postgres(t), "--secret-key=", "--webhook-allow=127.0.0.1")
	form, token := openForm(s)
	a := s.Call("POST", "/api/v1/forms/"+form+"/webhooks", token, `{"url": "http://127.0.0.1:1/"}`)
	if a.Code() != 500001 || !strings.Contains(a.Text, "FORMULARY_SECRET_KEY") {
		t.Errorf("create: %s", a.Text)
	}
}

// The admin address has the figures of deliveries.
func TestWebhookMetrics(t *testing.T) {
	t.Parallel()
	storage := storetest.SQLite(t)
	s := clitest.Start(t, storage, "--webhook-allow=127.0.0.1", "--admin-addr=127.0.0.1:0")
	address := adminAddress(t, s)
	form, token := openForm(s)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/down") {
			w.WriteHeader(500)
		}
	}))
	defer receiver.Close()
	for _, path := range []string{"/up", "/down"} {
		s.Call("POST", "/api/v1/forms/"+form+"/webhooks", token, `{"url": "`+receiver.URL+path+`"}`)
	}
	s.Call("POST", "/f/"+form, "", `{"answers": {"note": "x"}}`)
	var page string
	if !clitest.WaitFor(func() bool {
		res, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		page = string(text)
		return strings.Contains(page, "\nformulary_webhook_delivered_total 1\n") && strings.Contains(page, "\nformulary_webhook_failed_total 1\n") &&
			strings.Contains(page, "\nformulary_webhook_lag_seconds ")
	}) {
		t.Errorf("metrics:\n%s", page)
	}
}
