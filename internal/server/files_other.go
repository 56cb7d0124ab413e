//go:build !unix

package server

// openFileLimit returns false: this system has no such limit.
func openFileLimit() (uint64, bool) { return 0, false }
