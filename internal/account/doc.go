// Package account knows people, sessions, applications and their secrets: how
// they are named, minted, hashed, compared and checked. It is pure: it holds
// no state, reads no clock and touches no database.
package account
