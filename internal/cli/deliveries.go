package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"formulary/internal/account"
	"formulary/internal/delivery"
	"formulary/internal/server"
	"formulary/internal/store"
	"formulary/internal/webhook"
)

// secretKeyFile has the secret key in the data directory of SQLite.
const secretKeyFile = "secret.key"

// deliveries returns what webhooks need.
func (c serveCommand) deliveries(storage Storage, s *store.Store, log *slog.Logger) (delivery.Config, error) {
	allowed, err := webhook.ParseAllowed(c.WebhookAllow)
	if err != nil {
		return delivery.Config{}, fmt.Errorf("FORMULARY_WEBHOOK_ALLOW: %w", err)
	}
	sealer, err := c.sealer(storage, s)
	if err != nil {
		return delivery.Config{}, err
	}
	version, _, _ := strings.Cut(Version(), " ")
	return delivery.Config{Store: s, Client: webhook.NewClient(version, allowed), Allowed: allowed, Sealer: sealer, Log: log, Now: time.Now, Connections: server.OutgoingConnections()}, nil
}

// sealer encrypts with the key of the configuration, or that of the data directory. On
// PostgreSQL, whose nodes must have the same key, nil means that there is none.
func (c serveCommand) sealer(storage Storage, s *store.Store) (*account.Sealer, error) {
	key := c.SecretKey
	var err error
	switch {
	case key != "" && c.SecretKeyFile != "":
		return nil, errors.New("set either the secret key or the secret key file, not both")
	case c.SecretKeyFile != "":
		key, err = readKey(c.SecretKeyFile)
	case key == "" && s.MultiNode():
		return nil, nil
	case key == "":
		key, err = ensureKey(filepath.Join(storage.Data, secretKeyFile))
	}
	if err != nil {
		return nil, fmt.Errorf("secret key: %w", err)
	}
	return account.NewSealer(key)
}

func readKey(name string) (string, error) {
	text, err := os.ReadFile(name)
	return strings.TrimSpace(string(text)), err
}

// ensureKey reads a key, and creates it if there is none. It appears complete or not at all.
func ensureKey(name string) (string, error) {
	key, err := readKey(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".secret-key-*") // readable by its owner alone
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if _, err := file.WriteString(account.NewKeyText() + "\n"); err != nil {
		return "", err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return "", err
	}
	// Another process may have been faster: its key counts.
	if err := os.Link(file.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return readKey(name)
}

// runDispatcher delivers until ctx ends. What it returns ends ctx and waits for deliveries in
// flight.
func runDispatcher(ctx context.Context, stop context.CancelFunc, d *delivery.Dispatcher) (wait func()) {
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	return func() {
		stop()
		running.Wait()
		d.Client.Close()
	}
}

func addDeliveryMetrics(m *server.Metrics, d *delivery.Dispatcher) {
	m.Add(
		server.Metric{Name: "formulary_webhook_delivered_total", Kind: "counter", Help: "Webhook requests that succeeded.",
			Value: func() float64 { return float64(d.Stats().Delivered) }},
		server.Metric{Name: "formulary_webhook_failed_total", Kind: "counter", Help: "Webhook requests that failed.",
			Value: func() float64 { return float64(d.Stats().Failed) }},
		server.Metric{Name: "formulary_webhook_pending", Kind: "gauge", Help: "Webhook deliveries waiting for another attempt.",
			Value: func() float64 { return float64(d.Stats().Pending) }},
		server.Metric{Name: "formulary_webhook_lag_seconds", Kind: "gauge", Help: "Age of the oldest event that is being delivered for the first time.",
			Value: func() float64 { return d.Stats().Lag.Seconds() }},
	)
}
