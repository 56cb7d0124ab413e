// Package oauth implements the rules of the OAuth 2.0 authorization server: it validates
// authorization requests, exchanges codes for tokens, and refreshes, revokes, introspects
// and checks tokens. It does not depend on HTTP.
//
// We do not use a library, because our interface differs where libraries decide: scopes
// are separated by commas, the token response contains the user, refresh has its own
// endpoint, and refresh tokens stay the same.
package oauth
