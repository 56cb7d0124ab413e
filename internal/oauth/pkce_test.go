package oauth_test

import (
	"strings"
	"testing"
)

// The pair of RFC 7636, appendix B, and one more.
const (
	verifierA  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challengeA = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	verifierB  = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	challengeB = "UnieNCO3K-64mEVqT0lmLkawy7lgeExe9LE5nTJ-fCc"
)

func TestPKCE(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.signedIn(ada)
		ask := with(w.app.AuthorizeURL("forms:read"), "code_challenge", challengeA, "code_challenge_method", "S256")
		fresh := func() string { return w.code(b, ask) }

		w.MustToken(w.Form(tokenPath, with(w.app.Exchange(fresh()), "code_verifier", verifierA))) // 62
		w.grant("63 no verifier", w.Form(tokenPath, w.app.Exchange(fresh())))
		w.grant("64 wrong verifier", w.Form(tokenPath, with(w.app.Exchange(fresh()), "code_verifier", verifierB)))
		plain := w.code(b, w.app.AuthorizeURL("forms:read"))
		w.grant("65 verifier without challenge", w.Form(tokenPath, with(w.app.Exchange(plain), "code_verifier", verifierA)))
		w.refused(b, "66 plain", with(ask, "code_challenge_method", "plain").Encode(), "invalid_request")
		w.refused(b, "66 no method", with(ask, "code_challenge_method", "").Encode(), "invalid_request")
		w.refused(b, "66 method without challenge", with(ask, "code_challenge", "").Encode(), "invalid_request")
		for _, bad := range []string{verifierA[:42], strings.Repeat("a", 129), verifierA[:42] + "!", verifierA[:42] + "é", verifierA[:42] + " "} {
			w.grant("67 verifier "+bad, w.Form(tokenPath, with(w.app.Exchange(fresh()), "code_verifier", bad)))
		}
		for _, bad := range []string{"short", challengeA + "A", challengeA[:42] + "=", challengeA[:42] + "*", verifierB} {
			w.refused(b, "68 challenge "+bad, with(ask, "code_challenge", bad).Encode(), "invalid_request")
		}
		w.refused(b, "69 public without PKCE", w.public.AuthorizeURL("forms:read").Encode(), "invalid_request")
		w.MustToken(w.Form(tokenPath, w.app.Exchange(w.code(b, w.app.AuthorizeURL("forms:read"))))) // 70

		other := with(ask, "code_challenge", challengeB)
		one, two := fresh(), w.code(b, other)
		w.grant("71 swapped", w.Form(tokenPath, with(w.app.Exchange(one), "code_verifier", verifierB)))
		w.grant("71 swapped", w.Form(tokenPath, with(w.app.Exchange(two), "code_verifier", verifierA)))

		// A public application goes through without a secret, and must not
		// send one.
		token := w.publicToken(b)
		if w.alive(token.Access) != 0 {
			t.Error("the public application's token does not work")
		}
		code := w.code(b, with(w.public.AuthorizeURL("forms:read"), "code_challenge", challengeA, "code_challenge_method", "S256"))
		w.is("a public application with a secret", w.Form(tokenPath, with(w.public.Exchange(code), "code_verifier", verifierA, "client_secret", "fms_x")),
			401, 401101, "invalid_client")
	})
}
