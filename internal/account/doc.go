// Package account defines users, sessions, applications and their secrets: how they are
// named, created, hashed, compared and validated. It holds no state, reads no clock and
// uses no database.
package account
