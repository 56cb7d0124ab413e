package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"formulary/internal/export"
	"formulary/internal/file"
	"formulary/internal/form"
	"formulary/internal/store"
)

type exportCommand struct {
	Form   string `arg:"" help:"Form ID or custom link."`
	Format string `env:"FORMULARY_EXPORT_FORMAT" enum:"csv,xlsx,jsonl,zip" default:"csv" help:"File format (csv, xlsx, jsonl, or zip with all files)."`
	Header string `env:"FORMULARY_EXPORT_HEADER" enum:"labels,keys" default:"labels" help:"Header row: question labels or keys (labels, keys)."`
	Output string `short:"o" env:"FORMULARY_EXPORT_OUTPUT" default:"-" help:"Output file; - for standard output." placeholder:"FILE"`
}

func (c exportCommand) Run(ctx context.Context, storage Storage, streams streams) error {
	ctx, cancel := context.WithTimeout(ctx, longWork)
	defer cancel()
	s, places, err := storage.openWithFiles(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	public, err := findForm(ctx, s, c.Form)
	if err != nil {
		return err
	}
	f, err := s.Form(ctx, public.Owner, public.ID)
	if err != nil {
		return err
	}
	versions, err := s.Definitions(ctx, public.Owner, public.ID)
	if err != nil {
		return err
	}
	table := export.Table{Format: c.Format, Labels: c.Header == "labels", Versions: versions, BaseURL: storage.BaseURL}
	if err := s.RecordExport(ctx, public.Owner, public.ID, c.Format); err != nil {
		return err
	}
	bar := newProgress(streams.err, f.ResponseCount)
	each := func(fn func(form.Response) error) error {
		return s.StreamResponses(ctx, public.Owner, public.ID, store.ResponseFilter{}, func(r form.Response) error {
			bar.step()
			return fn(r)
		})
	}
	write := func(out io.Writer) error { return table.Responses(out, each) }
	if c.Format == "zip" {
		// Responses are read twice: for the table, and for their files.
		bar.total *= 2
		files := file.New(file.Config{Store: s, Blobs: places, Log: slog.New(slog.NewTextHandler(streams.err, nil)), Now: time.Now})
		write = func(out io.Writer) error { return files.Archive(ctx, out, public.Owner, table, each) }
	}
	if c.Output == "-" {
		err = write(streams.out)
		bar.end()
		return err
	}
	err = writeFile(c.Output, write)
	bar.end()
	if err == nil {
		if c.Format == "zip" {
			bar.done /= 2
		}
		fmt.Fprintf(streams.err, "Exported %s to %s.\n", counted(bar.done, "response", "responses"), c.Output)
	}
	return err
}

// writeFile creates a file completely, synced to disk, or not at all.
func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".formulary-export-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := write(file); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}

// progress draws a progress bar if the output is a terminal.
type progress struct {
	out     io.Writer // nil: not a terminal
	done    int64
	total   int64
	drawnAt time.Time
}

func newProgress(out io.Writer, total int64) *progress {
	p := &progress{total: max(total, 1)}
	if file, ok := out.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.out = out
		}
	}
	return p
}

const barWidth = 30

func (p *progress) step() {
	p.done++
	if p.out == nil || p.done%1000 != 0 || time.Since(p.drawnAt) < 100*time.Millisecond {
		return
	}
	p.drawnAt = time.Now()
	p.draw()
}

func (p *progress) draw() {
	fraction := min(float64(p.done)/float64(p.total), 1)
	bar := make([]rune, barWidth)
	for i := range bar {
		bar[i] = '░'
		if i < int(fraction*barWidth) {
			bar[i] = '█'
		}
	}
	fmt.Fprintf(p.out, "\r%s %3.0f %%  %d of %d", string(bar), fraction*100, p.done, max(p.done, p.total))
}

func (p *progress) end() {
	if p.out != nil && p.done > 0 {
		p.draw()
		fmt.Fprintln(p.out)
	}
}
