package oauth_test

import (
	"strings"
	"testing"
)

// Two pairs of verifier and challenge. Pair A is that of RFC 7636, appendix B.
const (
	verifierA  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challengeA = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	verifierB  = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	challengeB = "UnieNCO3K-64mEVqT0lmLkawy7lgeExe9LE5nTJ-fCc"
)

// TestPKCE covers lines 62 to 71 of the checklist: verifiers and challenges.
func TestPKCE(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.signIn(ada)
		query := withValues(f.app.AuthorizeURL("forms:read"), "code_challenge", challengeA, "code_challenge_method", "S256")
		newCode := func() string { return f.obtainCode(b, query) }

		f.MustToken(f.Form(tokenPath, withValues(f.app.Exchange(newCode()), "code_verifier", verifierA))) // 62
		f.expectInvalidGrant("63 no verifier", f.Form(tokenPath, f.app.Exchange(newCode())))
		f.expectInvalidGrant("64 wrong verifier", f.Form(tokenPath, withValues(f.app.Exchange(newCode()), "code_verifier", verifierB)))
		noChallenge := f.obtainCode(b, f.app.AuthorizeURL("forms:read"))
		f.expectInvalidGrant("65 verifier without challenge", f.Form(tokenPath, withValues(f.app.Exchange(noChallenge), "code_verifier", verifierA)))
		f.expectRedirectError(b, "66 plain", withValues(query, "code_challenge_method", "plain").Encode(), "invalid_request")
		f.expectRedirectError(b, "66 no method", withValues(query, "code_challenge_method", "").Encode(), "invalid_request")
		f.expectRedirectError(b, "66 method without challenge", withValues(query, "code_challenge", "").Encode(), "invalid_request")
		for _, bad := range []string{verifierA[:42], strings.Repeat("a", 129), verifierA[:42] + "!", verifierA[:42] + "é", verifierA[:42] + " "} {
			f.expectInvalidGrant("67 verifier "+bad, f.Form(tokenPath, withValues(f.app.Exchange(newCode()), "code_verifier", bad)))
		}
		for _, bad := range []string{"short", challengeA + "A", challengeA[:42] + "=", challengeA[:42] + "*", verifierB} {
			f.expectRedirectError(b, "68 challenge "+bad, withValues(query, "code_challenge", bad).Encode(), "invalid_request")
		}
		f.expectRedirectError(b, "69 public without PKCE", f.public.AuthorizeURL("forms:read").Encode(), "invalid_request")
		f.MustToken(f.Form(tokenPath, f.app.Exchange(f.obtainCode(b, f.app.AuthorizeURL("forms:read"))))) // 70

		queryB := withValues(query, "code_challenge", challengeB)
		codeA, codeB := newCode(), f.obtainCode(b, queryB)
		f.expectInvalidGrant("71 swapped", f.Form(tokenPath, withValues(f.app.Exchange(codeA), "code_verifier", verifierB)))
		f.expectInvalidGrant("71 swapped", f.Form(tokenPath, withValues(f.app.Exchange(codeB), "code_verifier", verifierA)))

		// A public application needs no secret and must not send one.
		token := f.obtainPublicToken(b)
		if f.tokenErrorCode(token.Access) != 0 {
			t.Error("the public application's token does not work")
		}
		code := f.obtainCode(b, withValues(f.public.AuthorizeURL("forms:read"), "code_challenge", challengeA, "code_challenge_method", "S256"))
		f.expectError("a public application with a secret", f.Form(tokenPath, withValues(f.public.Exchange(code), "code_verifier", verifierA, "client_secret", "fms_x")),
			401, 401101, "invalid_client")
	})
}
