package cli

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"time"

	"formulary/internal/file"
	"formulary/internal/store"
)

type filesCommands struct {
	Check filesCheck `cmd:"" help:"Compare the database with the stored files. Safe while the server is running."`
	Move  filesMove  `cmd:"" help:"Move all files to another place. Safe while the server is running."`
}

type filesCheck struct {
	Hashes bool `env:"FORMULARY_CHECK_HASHES" help:"Read all files and compare their hashes."`
	Rescan bool `env:"FORMULARY_CHECK_RESCAN" help:"Scan files for malware again that were too large for the scanner."`
	Repair bool `env:"FORMULARY_CHECK_REPAIR" help:"Delete stored files that nothing refers to, and uploads without content."`
}

func (c filesCheck) Run(ctx context.Context, storage Storage, io streams) error {
	ctx, cancel := context.WithTimeout(ctx, longWork)
	defer cancel()
	s, places, err := storage.openWithFiles(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.Rescan {
		n, err := s.RescanFiles(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(io.out, "Running servers scan %s again.\n", counted(n, "file", "files"))
	}
	log := slog.New(slog.NewTextHandler(io.err, nil))
	files := file.New(file.Config{Store: s, Blobs: places, Limit: math.MaxInt64, Log: log, Now: time.Now})
	sum, err := files.Check(ctx, file.CheckOptions{Hashes: c.Hashes, Repair: c.Repair}, func(p file.Problem) {
		text := p.Text
		if p.Repaired {
			text += " (repaired)"
		}
		fmt.Fprintln(io.out, text)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "Checked %s: %s.\n", counted(sum.Files, "file", "files"), counted(sum.Problems, "problem", "problems"))
	if sum.Left > 0 {
		return fmt.Errorf("%s left", counted(sum.Left, "problem", "problems"))
	}
	return nil
}

type filesMove struct {
	To string `required:"" env:"FORMULARY_FILES_TO" help:"A folder, or s3://bucket/prefix?endpoint=…&region=…." placeholder:"PLACE"`
}

func (c filesMove) Run(ctx context.Context, storage Storage, io streams) error {
	ctx, cancel := context.WithTimeout(ctx, longWork)
	defer cancel()
	to := c.To
	if !strings.Contains(to, "://") {
		var err error
		if to, err = filepath.Abs(to); err != nil {
			return err
		}
	}
	s, places, err := storage.openWithFiles(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	var files, bytes int64
	err = places.Move(ctx, to, func(size int64) {
		files++
		bytes += size
	})
	fmt.Fprintf(io.out, "Moved %s (%s) to %s.\n", counted(files, "file", "files"), store.FormatBytes(bytes), to)
	if err != nil {
		return fmt.Errorf("%w; run the command again to continue", err)
	}
	fmt.Fprintf(io.out, "Now set FORMULARY_FILES=%s and restart the server when it suits you.\n", to)
	return nil
}
