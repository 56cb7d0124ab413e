// Package blob stores the bytes of files in a folder or in S3. It knows nothing about
// forms and accounts: what a file is called, who owns it and when it is deleted is in the
// database.
package blob

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"time"
)

// Store stores objects, which never change: each has a new key. Its methods can be called
// concurrently. If the folder or the S3 server cannot be used, they return a 503001.
type Store interface {
	// Put stores the bytes of r and returns when they are durable. If r returns an error,
	// or not as many bytes as size says, nothing is stored; an error of r is wrapped. size
	// is -1 if it is not known.
	Put(ctx context.Context, key string, r io.Reader, size int64) error

	// Open reads length bytes from offset on, or up to the end if length is -1 or the
	// object is shorter. It returns fault.NotFound if there is no such object. For whole
	// objects (0, -1) the reader is an io.ReadSeekCloser that http.ServeContent can use;
	// in a folder, an *os.File. ctx is for the reads too.
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)

	// Delete deletes an object. It returns no error if there is none.
	Delete(ctx context.Context, key string) error

	// All returns all objects in no particular order, and ends after an error. Objects
	// that are put or deleted meanwhile may be among them or not. It also removes what
	// processes that crashed left of unfinished objects.
	All(ctx context.Context) iter.Seq2[Object, error]
}

// Object describes a stored object.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
}

// Config says where objects are.
type Config struct {
	// URL is a folder or s3://bucket/prefix?endpoint=https://host&region=name.
	URL string
	// Key and Secret are the credentials for S3.
	Key, Secret string
	// Temp is the folder for temporary files of uploads to S3; empty: that of the system.
	Temp string

	timeouts timeouts // 0: the defaults
}

// Open returns the store at a URL. It creates a folder that does not exist, but does not
// connect to S3.
func Open(c Config) (Store, error) {
	if strings.HasPrefix(c.URL, "s3:") {
		return openS3(c)
	}
	if scheme, _, ok := strings.Cut(c.URL, "://"); ok {
		return nil, fmt.Errorf("files cannot be stored in %s://: use a folder or s3://bucket/prefix?endpoint=…", scheme)
	}
	if c.URL == "" {
		return nil, errors.New("the folder for files is not set")
	}
	path, err := filepath.Abs(c.URL)
	if err != nil {
		return nil, fmt.Errorf("folder for files: %w", err)
	}
	return openFolder(path)
}

const (
	keyBytes  = 20
	keyLength = 2*keyBytes + 1
)

// NewKey returns a random key, such as 4f/a0c5…, which cannot be guessed. The first two
// digits spread files over 256 folders.
func NewKey() string {
	var random [keyBytes]byte
	rand.Read(random[:])
	text := hex.EncodeToString(random[:])
	return text[:2] + "/" + text[2:]
}

// isKey reports whether NewKey can have returned the key. Other keys are refused, so that
// no path leaves the folder.
func isKey(key string) bool {
	if len(key) != keyLength || key[2] != '/' {
		return false
	}
	for i, c := range []byte(key) {
		isDigit := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if !isDigit && i != 2 {
			return false
		}
	}
	return true
}

func checkKey(key string) error {
	if !isKey(key) {
		return fmt.Errorf("%q is not the key of an object", key)
	}
	return nil
}
