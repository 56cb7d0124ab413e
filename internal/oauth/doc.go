// Package oauth holds the rules of the authorization server: what an
// authorization request must look like, how a code becomes tokens, how tokens
// are refreshed, revoked, introspected and checked. It knows no HTTP.
//
// It is our own because the interface differs from every library just where a
// library decides: comma-separated scopes, the user in the token answer, a
// refresh address of its own, a refresh token that stays the same.
package oauth
