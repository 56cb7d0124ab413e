package api_test

import "testing"

// More personal tokens do not mean more requests. Other users have limits of their own.
func TestPersonalTokensShareLimit(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		tokens := []string{w.PersonalToken(ada, "One", "forms:read"), w.PersonalToken(ada, "Two", "forms:read")}
		refused := 0
		for i := range 20 {
			if a := w.Call("GET", "/api/v1/me", tokens[i%2], ""); a.Code() == 429001 {
				refused++
			}
		}
		// The limit is 10 a minute, and a few more if the test takes long.
		if refused == 0 {
			t.Error("two tokens have twice the requests of one")
		}
		w.expectStatus("another user", w.Call("GET", "/api/v1/me", w.PersonalToken(bob, "One", "forms:read"), ""), 200)
	}, "--rate-per-token=10")
}
