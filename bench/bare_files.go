package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// startBareFiles starts a bare server that stores what it gets in a folder, and sends one file
// of the given size.
func startBareFiles(ctx context.Context, folder string, size int) (*process, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, fmt.Errorf("start bare: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, servedFile), document(size), 0o600); err != nil {
		return nil, fmt.Errorf("start bare: %w", err)
	}
	return startBare(ctx, bareConfig{Folder: folder})
}

const servedFile = "served.pdf"

// filesHandler does what no server for files can avoid: it writes and syncs what it gets, and
// sends a file with http.ServeContent.
func filesHandler(folder string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if err := storeFile(folder, r.Body); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"id":"fil_01k9z8m7q3e4r5t6y7v8w9x0a1","name":"Report.pdf","size":1000000,"type":"application/pdf"}`)
			return
		}
		file, err := os.Open(filepath.Join(folder, servedFile))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer file.Close()
		http.ServeContent(w, r, servedFile, time.Time{}, file)
	})
}

// storeFile writes a file that survives a power cut: its bytes and its name are synced.
func storeFile(folder string, body io.Reader) error {
	file, err := os.CreateTemp(folder, "upload-")
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(file, body); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), file.Name()+".pdf"); err != nil {
		return err
	}
	names, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer names.Close()
	return names.Sync()
}
