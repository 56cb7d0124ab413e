//go:build !unix

package server

// openFileLimit is unknown where the system has no such limit.
func openFileLimit() (uint64, bool) { return 0, false }
