package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/form"
)

// Targets of files.
const (
	minUploadShare   = 0.6 // of a bare server that writes and syncs the same bytes
	minDownloadShare = 0.8 // of http.ServeContent
	maxUploadMemory  = 100e6
	maxZipMemory     = 60e6
)

const (
	fileConns     = 8
	transferSize  = 1_000_000 // bytes of a file whose transfer is timed
	parallelFiles = 100
	largeFile     = 25_000_000
	responseFiles = 20 // files of a response; the most that a question allows
	fileField     = "files"
	// smallZip is the size of the zip file, unless -zip is given.
	smallZip = 1_000_000_000
	largeZip = 10_000_000_000
)

// fileFigures are the measurements of files on one engine.
type fileFigures struct {
	name             string // of the engine
	upload, download [2]outcome
	uploads          peakFigures // parallelFiles large files at once
	zip              peakFigures
	zipBytes         int64
}

// peakFigures are bytes of memory: of the service at rest, and at most.
type peakFigures struct{ idle, peak int64 }

// fileBench is a running service with a form that asks for files.
type fileBench struct {
	*bench
	*dataset
	place   location
	service *process
	admin   string // the service's address for profiles; empty: none
	token   string
	uploads atomic.Uint32 // so far
}

// measureFiles measures uploads and downloads on one engine.
func (b *bench) measureFiles(ctx context.Context, engine, folder string) (f fileFigures, err error) {
	defer func(rounds int) { b.rounds = rounds }(b.rounds)
	b.rounds = min(b.rounds, fewRounds)
	fmt.Fprintf(b.progress, "%s: files\n", engine)
	if folder, err = os.MkdirTemp(folder, "files-"); err != nil {
		return f, err
	}
	place, remove, err := newLocation(ctx, engine, folder)
	if err != nil {
		return f, err
	}
	defer remove()
	data, err := seed(ctx, place, (*dataset).fillWebhooks)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, data.store.Close()) }()
	f.name = data.store.Engine()
	question := &form.Field{Kind: "file", Key: fileField, Label: "Files", MaxFiles: new(responseFiles), MaxSizeMB: new(largeFile / 1_000_000)}
	if err := data.publish(ctx, data.smallOwner, "Application", &form.Definition{Fields: []*form.Field{question}}); err != nil {
		return f, err
	}
	w := &fileBench{bench: b, dataset: data, place: place}
	if w.service, w.admin, err = b.serve(ctx, place); err != nil {
		return f, err
	}
	defer func() { w.service.stop() }()
	tokens, err := data.exchange(ctx, w.service.addr, data.smallOwner, 1)
	if err != nil {
		return f, err
	}
	w.token = tokens[0].Access
	bare, err := startBareFiles(ctx, filepath.Join(folder, "bare"), transferSize)
	if err != nil {
		return f, err
	}
	defer bare.stop()
	if f.upload, err = w.compareUploads(ctx, bare); err != nil {
		return f, fmt.Errorf("upload: %w", err)
	}
	if f.download, err = w.compareDownloads(ctx, bare); err != nil {
		return f, fmt.Errorf("download: %w", err)
	}
	if f.uploads, err = w.measureParallelUploads(ctx); err != nil {
		return f, fmt.Errorf("parallel uploads: %w", err)
	}
	f.zip, f.zipBytes, err = w.measureZip(ctx)
	return f, err
}

// document returns bytes that are taken for a PDF file and cannot be compressed.
func document(size int) []byte {
	text := make([]byte, size)
	rand.Read(text)
	copy(text, "%PDF-1.7\n")
	return text
}

// uploadRequest returns an upload by a client of its own, because each client may have only so
// many files without a response. All addresses have the same length.
func (w *fileBench) uploadRequest(body []byte) []byte {
	n := w.uploads.Add(1)
	head := fmt.Appendf(nil, "POST %s/files?field=%s HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.%d.%d.%d\r\nContent-Type: application/pdf\r\n"+
		"Content-Disposition: attachment; filename*=UTF-8''Report.pdf\r\nContent-Length: %d\r\n\r\n",
		w.public(), fileField, 100+n/10_000%100, 100+n/100%100, 100+n%100, len(body))
	return append(head, body...)
}

// compareFiles sends the same work to the bare server and the service in turn. The bare server
// is first.
func (w *fileBench) compareFiles(ctx context.Context, title string, entrants []entrant) (both [2]outcome, err error) {
	f, err := w.measureWorkload(ctx, workload{title: title, connections: fileConns, latencyConns: fileConns}, entrants)
	if err != nil {
		return both, err
	}
	for _, o := range f.outcomes {
		if o.errors > 0 {
			return both, fmt.Errorf("%s said: %.600s", o.name, o.firstError)
		}
	}
	return [2]outcome(f.outcomes), nil
}

func (w *fileBench) compareUploads(ctx context.Context, bare *process) ([2]outcome, error) {
	body := document(transferSize)
	// Only the client's address changes from one request to the next, so each connection
	// keeps its body.
	uploads := func(_ context.Context, connections, _ int) ([]source, error) {
		sources := make([]source, connections)
		for i := range sources {
			request := w.uploadRequest(body)
			sources[i] = func() []byte {
				head := w.uploadRequest(nil)
				copy(request, head[:bytes.Index(head, []byte("Content-Length"))])
				return request
			}
		}
		return sources, nil
	}
	both, err := w.compareFiles(ctx, "Upload 1 MB", []entrant{{bareName, bare, uploads}, {"Formulary", w.service, uploads}})
	if err != nil || w.admin == "" {
		return both, err
	}
	return both, w.profile(ctx, w.admin, "upload", func(length time.Duration) error {
		sources, err := uploads(ctx, fileConns, 0)
		if err == nil {
			_, _, err = w.loadOnce(ctx, w.service, sources, length)
		}
		return err
	})
}

func (w *fileBench) compareDownloads(ctx context.Context, bare *process) (both [2]outcome, err error) {
	id, err := w.upload(ctx, document(transferSize))
	if err != nil {
		return both, err
	}
	if err := w.submitFiles(ctx, []string{id}); err != nil {
		return both, err
	}
	request := get("/api/v1/forms/"+w.form+"/files/"+id, w.token)
	both, err = w.compareFiles(ctx, "Download 1 MB", []entrant{
		newEntrant(bareName, bare, get("/file", "")),
		newEntrant("Formulary", w.service, request),
	})
	if err != nil || w.admin == "" {
		return both, err
	}
	return both, w.profile(ctx, w.admin, "download", func(length time.Duration) error {
		_, _, err := w.loadOnce(ctx, w.service, distribute([][]byte{request}, fileConns), length)
		return err
	})
}

// upload uploads a file and returns its ID. It does not copy the body: many uploads share it.
func (w *fileBench) upload(ctx context.Context, body []byte) (string, error) {
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(w.uploadRequest(nil))))
	if err != nil {
		return "", err
	}
	request.RequestURI, request.URL.Scheme, request.URL.Host = "", "http", w.service.addr
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer, err := http.DefaultClient.Do(request.WithContext(ctx))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusCreated {
		err = fmt.Errorf("upload resulted in %s: %.300s", answer.Status, text)
	}
	if err != nil {
		return "", err
	}
	var file struct{ ID string }
	err = json.Unmarshal(text, &file)
	return file.ID, err
}

func (w *fileBench) submitFiles(ctx context.Context, ids []string) error {
	answers, err := json.Marshal(map[string]any{"answers": map[string]any{fileField: ids}})
	if err != nil {
		return err
	}
	_, err = fetch(ctx, w.service.addr, postJSON(w.public(), string(answers)))
	return err
}

// measureParallelUploads uploads large files at the same time.
func (w *fileBench) measureParallelUploads(ctx context.Context) (f peakFigures, err error) {
	fmt.Fprintf(w.progress, "  %d uploads of 25 MB at once\n", parallelFiles)
	body := document(largeFile)
	return w.watchMemory(func() error {
		errs := make([]error, parallelFiles)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { _, errs[i] = w.upload(ctx, body) })
		}
		all.Wait()
		return errors.Join(errs...)
	})
}

// measureZip downloads all files of the form as one zip file.
func (w *fileBench) measureZip(ctx context.Context) (f peakFigures, size int64, err error) {
	fmt.Fprintf(w.progress, "  A zip file of %s\n", megabytes(w.zipSize))
	body := document(largeFile)
	for range (w.zipSize + responseFiles*largeFile - 1) / (responseFiles * largeFile) {
		ids := make([]string, responseFiles)
		for i := range ids {
			if ids[i], err = w.upload(ctx, body); err != nil {
				return f, 0, err
			}
		}
		if err := w.submitFiles(ctx, ids); err != nil {
			return f, 0, err
		}
	}
	// A new process, without memory that the uploads needed.
	w.service.stop()
	if w.service, w.admin, err = w.serve(ctx, w.place); err != nil {
		return f, 0, err
	}
	f, err = w.watchMemory(func() error {
		size, err = w.download(ctx, "/api/v1/forms/"+w.form+"/responses/export?format=zip")
		return err
	})
	return f, size, err
}

// download reads a body of any length and returns how many bytes it has.
func (w *fileBench) download(ctx context.Context, path string) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.service.addr+path, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+w.token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s resulted in %s", path, answer.Status)
	}
	return io.Copy(io.Discard, answer.Body)
}

// watchMemory measures the memory of the service during work.
func (w *fileBench) watchMemory(work func() error) (f peakFigures, err error) {
	if err = w.service.resetPeak(); err != nil {
		return f, err
	}
	if f.idle, err = w.service.memory(); err != nil {
		return f, err
	}
	if err = work(); err != nil {
		return f, err
	}
	f.peak, err = w.service.peak()
	return f, err
}

// addFiles adds the figures of files on one engine.
func (r *targetRows) addFiles(f fileFigures) {
	prefix := f.name + ", files: "
	share := func(name string, both [2]outcome, target float64) {
		of := both[1].of(both[0])
		r.add(fmt.Sprintf("%s%s 1 MB, %d at a time, to the bare server", prefix, name, fileConns), formatSpan(of, ratio), fmt.Sprintf("≥ %g", target), of.median >= target)
		r.note(prefix+name+" 1 MB", formatSpan(spanOf(both[1].rates), formatInt)+" a second")
	}
	share("upload", f.upload, minUploadShare)
	share("download", f.download, minDownloadShare)
	memory := func(name string, p peakFigures, target float64) {
		r.add(prefix+name, fmt.Sprintf("%s, at rest %s", megabytes(p.peak), megabytes(p.idle)), "< "+megabytes(target), float64(p.peak) < target)
	}
	memory(fmt.Sprintf("memory during %d uploads of 25 MB", parallelFiles), f.uploads, maxUploadMemory)
	memory("memory during a zip file of "+megabytes(f.zipBytes), f.zip, maxZipMemory)
	if f.zipBytes < largeZip {
		r.note(prefix+"the same with 10 GB", "go run ./bench -only=files -zip=10000000000")
	}
}
