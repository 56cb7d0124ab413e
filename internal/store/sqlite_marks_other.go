//go:build !unix

package store

func openMarks(dir string) (marks, error) { return openFileMarks(dir) }
