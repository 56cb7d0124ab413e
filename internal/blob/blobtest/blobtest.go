// Package blobtest runs a real S3 server for tests, in a process of its own, and a proxy
// that disturbs its connections.
package blobtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"formulary/internal/blob"
)

// Credentials and the bucket of each server.
const (
	Key    = "test-key"
	Secret = "test-secret"
	bucket = "files"
	prefix = "forms/one"
)

// S3 is a running server with an empty bucket.
type S3 struct {
	t       testing.TB
	dir     string
	program string
	process *exec.Cmd
	ended   chan struct{}
	Address string
}

// program builds the server once per process.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("this is not in the repository")
		}
		dir = filepath.Dir(dir)
	}
	if err != nil {
		return "", err
	}
	out, err := exec.Command(filepath.Join(dir, "scripts", "build-s3-server")).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", errors.New(string(exit.Stderr))
	}
	return string(bytes.TrimSpace(out)), err
})

// StartS3 runs a server until the test ends. The first call may build the server, which
// takes minutes.
func StartS3(t testing.TB) *S3 {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatalf("build the S3 server: %v", err)
	}
	s := &S3{t: t, dir: t.TempDir(), program: path}
	for _, name := range []string{s.Folder(), filepath.Join(s.dir, "metadata")} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(s.Stop)
	s.Restart()
	return s
}

// Folder is where the server stores the files of the bucket.
func (s *S3) Folder() string { return filepath.Join(s.dir, "data", bucket) }

// Config returns the settings for objects on the server.
func (s *S3) Config() blob.Config { return s.ConfigAt(s.Address) }

// ConfigAt returns the settings for objects that are reached through an address, such as
// that of a proxy.
func (s *S3) ConfigAt(address string) blob.Config {
	query := url.Values{"endpoint": {"http://" + address}}
	return blob.Config{URL: "s3://" + bucket + "/" + prefix + "?" + query.Encode(), Key: Key, Secret: Secret, Temp: s.t.TempDir()}
}

// Restart runs a server that was stopped, with its data and at the same address.
func (s *S3) Restart() {
	s.t.Helper()
	const attempts = 3
	for range attempts {
		if s.start() {
			return
		}
	}
	s.t.Fatal("the S3 server did not start")
}

// start returns when the server accepts connections, or false if it ended.
func (s *S3) start() bool {
	s.t.Helper()
	address := s.Address
	if address == "" {
		address = FreeAddress(s.t)
	}
	s.process = exec.Command(s.program, address, filepath.Join(s.dir, "data"), filepath.Join(s.dir, "metadata"))
	s.process.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+Key, "ROOT_SECRET_KEY="+Secret)
	s.process.Stderr = os.Stderr
	s.process.SysProcAttr = diesWithTest()
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	s.ended = ended
	go func(process *exec.Cmd) {
		process.Wait()
		close(ended)
	}(s.process)
	for {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			connection.Close()
			s.Address = address
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// FreeAddress returns an address that nothing listens on. Another test could get the same port
// before a server uses it, so the host is a random one of this machine, where systems allow that.
func FreeAddress(t testing.TB) string {
	t.Helper()
	host := fmt.Sprintf("127.%d.%d.%d", rand.IntN(256), rand.IntN(256), 1+rand.IntN(254))
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// Stop ends the server as a crash does.
func (s *S3) Stop() {
	if s.process == nil {
		return
	}
	s.process.Process.Kill()
	<-s.ended
}

// Files returns the names and sizes of all files of the bucket, finished or not.
func (s *S3) Files() map[string]int64 { return Files(s.t, s.Folder()) }

// Files returns the names and sizes of all files in a folder.
func Files(t testing.TB, dir string) map[string]int64 {
	t.Helper()
	files := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files[path] = info.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Random returns a reader of size bytes that look random and depend on the seed.
func Random(seed byte, size int64) io.Reader {
	return io.LimitReader(&randomReader{state: uint64(seed) + 1}, size)
}

type randomReader struct {
	state uint64
	block [8]byte
	rest  []byte // of block
}

func (r *randomReader) Read(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if len(r.rest) == 0 {
			r.state ^= r.state << 13
			r.state ^= r.state >> 7
			r.state ^= r.state << 17
			binary.LittleEndian.PutUint64(r.block[:], r.state)
			r.rest = r.block[:]
		}
		copied := copy(p, r.rest)
		p, r.rest = p[copied:], r.rest[copied:]
	}
	return n, nil
}
