package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// savedResponse is a response of Formulary, which the bare server replays.
type savedResponse struct {
	Status int
	Header http.Header
	Body   []byte
}

// fetch sends one request and returns the response, which must be successful.
func fetch(ctx context.Context, addr string, request []byte) (savedResponse, error) {
	dialer := net.Dialer{Timeout: dialLimit}
	c, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return savedResponse{}, fmt.Errorf("fetch: %w", err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(responseTimeout)); err != nil {
		return savedResponse{}, fmt.Errorf("fetch: %w", err)
	}
	if _, err := c.Write(request); err != nil {
		return savedResponse{}, fmt.Errorf("fetch: %w", err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return savedResponse{}, fmt.Errorf("fetch: %w", err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxResponse))
	if err != nil {
		return savedResponse{}, fmt.Errorf("fetch: %w", err)
	}
	if r.StatusCode/100 != 2 {
		line, _, _ := bytes.Cut(request, []byte("\r\n"))
		return savedResponse{}, fmt.Errorf("%s resulted in %s: %s", line, r.Status, body)
	}
	r.Header.Del("Date") // net/http sends its own
	return savedResponse{r.StatusCode, r.Header, body}, nil
}

// bareConfig is what the bare server does: it replays responses, by method and path, or stores
// files in a folder.
type bareConfig struct {
	Responses map[string]savedResponse
	Folder    string
}

// startBare starts the bare server: this program with another flag.
func startBare(ctx context.Context, config bareConfig) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start bare: %w", err)
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("start bare: %w", err)
	}
	cmd := exec.Command(self, "-"+bareFlag)
	// The same GOMAXPROCS as the service chooses.
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", runtime.GOMAXPROCS(0)+1))
	// The configuration is one line. The pipe then stays open, so that the bare server exits
	// when the benchmark does.
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start bare: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start bare: %w", err)
	}
	cmd.Stderr = os.Stderr
	p, err := startProcess(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("start bare: %w", err)
	}
	if _, err := in.Write(append(text, '\n')); err != nil {
		p.stop()
		return nil, fmt.Errorf("start bare: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("start bare: %w", err)
	}
	p.addr = strings.TrimSpace(line)
	return p, nil
}

// serveBare runs in the other process. It sends the same bytes as Formulary with
// net/http and nothing else: the cost that no Go server can avoid.
func serveBare(in io.Reader, out io.Writer) error {
	reader := bufio.NewReader(in)
	text, err := reader.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("bare: %w", err)
	}
	var config bareConfig
	if err := json.Unmarshal(text, &config); err != nil {
		return fmt.Errorf("bare: %w", err)
	}
	handler := replayHandler(config.Responses)
	if config.Folder != "" {
		handler = filesHandler(config.Folder)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("bare: %w", err)
	}
	fmt.Fprintln(out, listener.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: dialLimit}
	go func() {
		io.Copy(io.Discard, reader) // returns when the benchmark exits
		server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("bare: %w", err)
	}
	return nil
}

func replayHandler(responses map[string]savedResponse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := responses[r.Method+" "+r.RequestURI]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method == http.MethodPost {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
		}
		maps.Copy(w.Header(), a.Header)
		w.WriteHeader(a.Status)
		w.Write(a.Body) // the benchmark counts missing responses
	})
}
