package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// certificateCheckInterval is the minimum time between two checks of the certificate
// files. TLS handshakes trigger the checks.
const certificateCheckInterval = 2 * time.Second

// certificate is a TLS certificate that is reloaded when its files change on disk. New
// connections then get the new certificate. If the new files are unusable, such as half
// written ones, the old certificate stays in use.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	now               func() time.Time
	current           atomic.Pointer[tls.Certificate]

	mu          sync.Mutex
	checkedAt   time.Time
	loadedFiles certificateFiles  // the files that current was read from
	failedFiles *certificateFiles // the last files that could not be loaded; nil: none
}

// certificateFiles describes the two files, so that a change is noticed without reading
// them. The description of a missing file is nil.
type certificateFiles struct {
	cert, key os.FileInfo
}

func newCertificate(certFile, keyFile string, log *slog.Logger, now func() time.Time) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, now: now, checkedAt: now()}
	files, err := c.stat()
	if err == nil {
		err = c.load(files)
	}
	if err != nil {
		return nil, fmt.Errorf("read the TLS certificate: %w", err)
	}
	return c, nil
}

// get implements tls.Config.GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	// TryLock: one handshake checks the files, concurrent ones do not wait for it.
	if c.mu.TryLock() {
		if now := c.now(); now.Sub(c.checkedAt) >= certificateCheckInterval {
			c.checkedAt = now
			c.reload(false)
		}
		c.mu.Unlock()
	}
	return c.current.Load(), nil
}

// reloadOnHangup reloads the files on every SIGHUP until ctx ends. Platforms without
// SIGHUP never send it.
func (c *certificate) reloadOnHangup(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			c.mu.Lock()
			c.reload(true)
			c.mu.Unlock()
		}
	}
}

// reload loads the files if they changed or force is set. It logs one warning for each
// unusable pair and retries the pair on the next call. The caller holds mu.
func (c *certificate) reload(force bool) {
	files, err := c.stat()
	if err == nil {
		if !force && files.equal(c.loadedFiles) {
			return
		}
		err = c.load(files)
	}
	if err == nil {
		leaf := c.current.Load().Leaf
		c.log.Info("TLS certificate reloaded", "serial", leaf.SerialNumber.Text(16), "not_after", leaf.NotAfter)
		c.failedFiles = nil
		return
	}
	if force || c.failedFiles == nil || !files.equal(*c.failedFiles) {
		c.log.Warn("could not reload TLS certificate, keeping the old one", "error", err)
	}
	c.failedFiles = &files
}

func (c *certificate) load(files certificateFiles) error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current.Store(&pair)
	c.loadedFiles = files
	return nil
}

// stat describes the files. It describes the other file even if one is missing.
func (c *certificate) stat() (files certificateFiles, err error) {
	var keyErr error
	files.cert, err = os.Stat(c.certFile)
	files.key, keyErr = os.Stat(c.keyFile)
	if err == nil {
		err = keyErr
	}
	return files, err
}

func (f certificateFiles) equal(other certificateFiles) bool {
	return isSameContent(f.cert, other.cert) && isSameContent(f.key, other.key)
}

// isSameContent reports whether two descriptions are of the same file with the same
// content. It notices a changed symlink target, a renamed file and an overwritten file.
func isSameContent(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
