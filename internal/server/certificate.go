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

// certificateCheck is how often, at most, handshakes look whether the files of
// the certificate have changed.
const certificateCheck = 2 * time.Second

// certificate is a TLS certificate that follows its files: once they are replaced
// on disk, new connections get the new one. A pair that cannot be used, such as
// one of which only half is written, leaves the old certificate in place.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	now               func() time.Time
	current           atomic.Pointer[tls.Certificate]

	mu      sync.Mutex
	checked time.Time
	loaded  certificateFiles  // what current was read from
	refused *certificateFiles // what was last warned about; nil: nothing
}

// certificateFiles identify the contents of the files without reading them.
type certificateFiles struct {
	cert, key os.FileInfo
}

func newCertificate(certFile, keyFile string, log *slog.Logger, now func() time.Time) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, now: now, checked: now()}
	files, err := c.stat()
	if err == nil {
		err = c.load(files)
	}
	if err != nil {
		return nil, fmt.Errorf("read the TLS certificate: %w", err)
	}
	return c, nil
}

// get is for tls.Config.GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	// One handshake looks at the files, the others do not wait for it.
	if c.mu.TryLock() {
		if now := c.now(); now.Sub(c.checked) >= certificateCheck {
			c.checked = now
			c.follow(false)
		}
		c.mu.Unlock()
	}
	return c.current.Load(), nil
}

// reloadOnHangup reads the files again on SIGHUP, where the platform has it,
// until ctx ends.
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
			c.follow(true)
			c.mu.Unlock()
		}
	}
}

// follow loads the files if they changed, or in any case when asked to. It warns
// once for each broken pair, and tries it again until it is complete.
func (c *certificate) follow(always bool) {
	files, err := c.stat()
	if err == nil {
		if !always && files.same(c.loaded) {
			return
		}
		err = c.load(files)
	}
	if err == nil {
		leaf := c.current.Load().Leaf
		c.log.Info("TLS certificate reloaded", "serial", leaf.SerialNumber.Text(16), "not_after", leaf.NotAfter)
		c.refused = nil
		return
	}
	if always || c.refused == nil || !files.same(*c.refused) {
		c.log.Warn("could not reload TLS certificate, keeping the old one", "error", err)
	}
	c.refused = &files
}

func (c *certificate) load(files certificateFiles) error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current.Store(&pair)
	c.loaded = files
	return nil
}

// stat describes the files; one that is missing is nil.
func (c *certificate) stat() (files certificateFiles, err error) {
	var err2 error
	files.cert, err = os.Stat(c.certFile)
	files.key, err2 = os.Stat(c.keyFile)
	if err == nil {
		err = err2
	}
	return files, err
}

func (f certificateFiles) same(other certificateFiles) bool {
	return sameFile(f.cert, other.cert) && sameFile(f.key, other.key)
}

// sameFile says whether two descriptions are of the same contents: a link that
// leads elsewhere now, a file that was renamed to this name and one that was
// written to all differ.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
