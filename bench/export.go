package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// exportFigures is the cost of one export.
type exportFigures struct {
	took time.Duration
	cpu  time.Duration
	peak int64 // peak memory of the server in bytes

	rounds span // seconds, if there were several
}

// downloads is a client for downloads whose content is discarded.
var downloads = &http.Client{Transport: &http.Transport{DisableCompression: true, ReadBufferSize: 256 << 10}}

// export reads an export completely and checks its number of lines, if want.lines is
// not 0.
func (b *bench) export(ctx context.Context, service *process, want exportRequest) (exportFigures, error) {
	var f exportFigures
	if err := service.resetPeak(); err != nil {
		return f, err
	}
	var err error
	f.cpu, f.took, err = b.measureCPU(ctx, service, func() error {
		return download(ctx, service, want.path+"?format="+want.format, want.token, want.lines)
	})
	if err != nil {
		return f, fmt.Errorf("export as %s: %w", want.format, err)
	}
	f.peak, err = service.peak()
	return f, err
}

// exportRequest is an export to measure.
type exportRequest struct {
	path, token, format string
	lines               int64 // expected number; 0: not checked
}

// download reads a file and discards it. lines is the expected number of lines, or 0.
func download(ctx context.Context, service *process, path, token string, lines int64) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+service.addr+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	res, err := downloads.Do(request)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 200))
		return fmt.Errorf("%s: %s", res.Status, text)
	}
	var count lineCounter
	if _, err := io.CopyBuffer(&count, res.Body, make([]byte, 256<<10)); err != nil {
		return err
	}
	if lines > 0 && int64(count) != lines {
		return fmt.Errorf("%d lines, not %d", count, lines)
	}
	return nil
}

// lineCounter counts the lines that are written to it.
type lineCounter int64

func (c *lineCounter) Write(p []byte) (int, error) {
	*c += lineCounter(bytes.Count(p, []byte{'\n'}))
	return len(p), nil
}
