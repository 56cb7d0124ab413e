//go:build !unix

package db

func openGenerations(dir string) (generations, error) { return openFileGenerations(dir) }
