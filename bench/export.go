package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// exportFigures is what one export took.
type exportFigures struct {
	took time.Duration
	cpu  time.Duration
	peak int64 // bytes of the server in memory

	rounds span // seconds, where there were several
}

// downloads throws away what it reads, with as little work as it can.
var downloads = &http.Client{Transport: &http.Transport{DisableCompression: true, ReadBufferSize: 256 << 10}}

// export reads an export to its end. A format that has lines must have that many.
func (b *bench) export(ctx context.Context, service *process, path, token, format string, lines int64) (exportFigures, error) {
	var f exportFigures
	if err := service.forgetPeak(); err != nil {
		return f, err
	}
	var err error
	f.cpu, f.took, err = b.watch(ctx, service, func() error {
		return download(ctx, service, path+"?format="+format, token, lines)
	})
	if err != nil {
		return f, fmt.Errorf("export as %s: %w", format, err)
	}
	f.peak, err = service.peak()
	return f, err
}

// download reads a file and throws it away; lines is how many it must have, or 0
// where that says nothing.
func download(ctx context.Context, service *process, path, token string, lines int64) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+service.addr+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := downloads.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
		return fmt.Errorf("%s: %s", answer.Status, text)
	}
	var got lineCounter
	if _, err := io.CopyBuffer(&got, answer.Body, make([]byte, 256<<10)); err != nil {
		return err
	}
	if lines > 0 && int64(got) != lines {
		return fmt.Errorf("%d lines, not %d", got, lines)
	}
	return nil
}

// lineCounter keeps nothing of what is written to it but the number of lines.
type lineCounter int64

func (c *lineCounter) Write(p []byte) (int, error) {
	*c += lineCounter(bytes.Count(p, []byte{'\n'}))
	return len(p), nil
}
