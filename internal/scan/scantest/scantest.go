// Package scantest runs ClamAV's daemon for tests, with one signature.
package scantest

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const (
	// Malware is a text that the scanner finds in files.
	Malware = "formulary test malware 7f1c0d"
	// Signature is what it reports then.
	Signature = "Formulary.Test.UNOFFICIAL"
	// MaxLength is the length of the largest file that it accepts.
	MaxLength = 4 << 20
)

// Server is a running scanner.
type Server struct {
	t       testing.TB
	dir     string
	socket  string
	process *exec.Cmd
	ended   chan struct{}
	Address string // for scan.New
}

// Start runs a scanner at a Unix socket until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	// Paths of sockets are limited to 100 bytes or so.
	dir, err := os.MkdirTemp("", "clamd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{t: t, dir: dir, socket: filepath.Join(dir, "socket")}
	s.Address = "unix:" + s.socket
	s.write("signatures/test.ndb", fmt.Sprintf("Formulary.Test:0:*:%s\n", hex.EncodeToString([]byte(Malware))))
	t.Cleanup(s.Stop)
	s.RestartWith(MaxLength)
	return s
}

// RestartWith runs a scanner that was stopped, with another length of the largest file.
func (s *Server) RestartWith(maxLength int64) {
	s.t.Helper()
	s.write("clamd.conf", fmt.Sprintf("Foreground yes\nLocalSocket %s\nDatabaseDirectory %s\nStreamMaxLength %d\n",
		s.socket, filepath.Join(s.dir, "signatures"), maxLength))
	s.Restart()
}

func (s *Server) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// Restart runs a scanner that was stopped, and returns when it accepts connections.
func (s *Server) Restart() {
	s.t.Helper()
	program, err := exec.LookPath("clamd")
	if err != nil {
		program = "/usr/sbin/clamd" // which is not in everybody's search path
	}
	s.process = exec.Command(program, "--config-file", filepath.Join(s.dir, "clamd.conf"))
	s.process.Stderr = os.Stderr
	s.process.SysProcAttr = diesWithTest()
	if err := s.process.Start(); err != nil {
		s.t.Fatalf("start clamd, which scripts/install-test-deps clamav installs: %v", err)
	}
	ended := make(chan struct{})
	s.ended = ended
	go func(process *exec.Cmd) {
		process.Wait()
		close(ended)
	}(s.process)
	for {
		connection, err := net.Dial("unix", s.socket)
		if err == nil {
			connection.Close()
			return
		}
		select {
		case <-ended:
			s.t.Fatal("clamd ended")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Stop ends the scanner.
func (s *Server) Stop() {
	if s.process == nil {
		return
	}
	s.process.Process.Kill()
	<-s.ended
}
