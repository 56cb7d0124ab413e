//go:build !unix

package store

func openGenerations(dir string) (generations, error) { return openFileGenerations(dir) }
