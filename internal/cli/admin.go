package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"formulary/internal/server"
)

// serveAdmin serves metrics and profiles on a separate address, which the administrator
// must protect.
func serveAdmin(ctx context.Context, addr string, metrics *server.Metrics, log *slog.Logger) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("admin address: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics.Handler())
	mux.HandleFunc("GET /debug/pprof/{$}", listProfiles)
	mux.HandleFunc("GET /debug/pprof/profile", serveCPUProfile)
	mux.HandleFunc("GET /debug/pprof/{name}", serveProfile)
	admin := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { admin.Close() })
	go func() {
		if err := admin.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("admin server stopped", "error", err)
		}
	}()
	log.Info("admin server started", "address", listener.Addr().String())
	return nil
}

const (
	defaultProfile = 30 // seconds
	maxProfile     = 300
)

// listProfiles lists the names of all profiles.
func listProfiles(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, "profile")
	for _, profile := range pprof.Profiles() {
		fmt.Fprintln(w, profile.Name())
	}
}

// serveCPUProfile measures for a number of seconds where CPU time goes. Its URL and parameter
// are those of net/http/pprof, which would add 200 KB to the binary.
func serveCPUProfile(w http.ResponseWriter, r *http.Request) {
	seconds := defaultProfile
	if text := r.FormValue("seconds"); text != "" {
		var err error
		if seconds, err = strconv.Atoi(text); err != nil || seconds < 1 || seconds > maxProfile {
			http.Error(w, fmt.Sprintf("seconds must be a number from 1 to %d", maxProfile), http.StatusBadRequest)
			return
		}
	}
	if err := pprof.StartCPUProfile(w); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	defer pprof.StopCPUProfile()
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
	case <-r.Context().Done():
	}
}

// serveProfile serves another profile, such as heap or goroutine, as text with debug=1. With
// gc=1 it collects garbage first.
func serveProfile(w http.ResponseWriter, r *http.Request) {
	profile := pprof.Lookup(r.PathValue("name"))
	if profile == nil {
		http.Error(w, "there is no such profile", http.StatusNotFound)
		return
	}
	if r.FormValue("gc") == "1" {
		runtime.GC()
	}
	debug, _ := strconv.Atoi(r.FormValue("debug")) // 0 if it is missing
	profile.WriteTo(w, debug)                      // fails if the client is gone
}
