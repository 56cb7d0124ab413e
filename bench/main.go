// Command bench measures Formulary on both databases, next to a bare net/http server
// that sends the same bytes and next to comparable products. Each server is a separate
// process on this machine; the load comes from this program:
//
//	go run ./bench [-engine=sqlite|postgres|both] [-only=WORK] [-responses=N] [-behind=N] [-peers=false] [-markdown FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// bareFlag starts this program as the bare server.
	bareFlag = "bare-server"
	// runLimit is the timeout of the whole run.
	runLimit = time.Hour
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-"+bareFlag {
		exit(serveBare(os.Stdin, os.Stdout))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(command(ctx, os.Args[1:]))
}

func exit(err error) {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("stopped")
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

// parts are the values of -only.
var parts = []string{"forms", "me", "exchange", "refresh", "introspect", "page", "feed", "submit", "pages", "spaces", "start", "million", "growth", "webhooks", "mail", "files"}

// command parses the flags, measures and reports.
func command(ctx context.Context, args []string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	b := &bench{progress: os.Stderr}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	engine := flags.String("engine", "both", "`database` to measure on: sqlite, postgres or both")
	markdown := flags.String("markdown", "", "also write the report to this `file`, and its charts to the folder images beside it")
	flags.DurationVar(&b.length, "time", 400*time.Millisecond, "how long a round is")
	flags.IntVar(&b.rounds, "rounds", 12, "how many rounds the medians are of")
	flags.BoolVar(&b.peers, "peers", true, "measure PocketBase and go-oauth2 too")
	flags.StringVar(&b.only, "only", "", "measure only this `work`: "+strings.Join(parts, ", "))
	flags.IntVar(&b.responses, "responses", 1_000_000, "how many responses the form of the works million and growth has at most")
	flags.IntVar(&b.farBehind, "behind", farBehind, "how many responses a webhook is behind at most; 1000000 takes minutes")
	flags.Int64Var(&b.zipSize, "zip", smallZip, "how many `bytes` the zip file of the work files has at least; 10000000000 takes minutes")
	flags.StringVar(&b.profiles, "profile", "", "also keep a CPU profile of each work in this `folder`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	engines := []string{"sqlite", "postgres"}
	if *engine != "both" {
		engines = []string{*engine}
	}
	switch {
	case *engine != "both" && *engine != "sqlite" && *engine != "postgres":
		return fmt.Errorf("-engine=%s: it is sqlite, postgres or both", *engine)
	case b.only != "" && !slices.Contains(parts, b.only):
		return fmt.Errorf("-only=%s: it is one of %s", b.only, strings.Join(parts, ", "))
	case b.length < 100*time.Millisecond || b.length > time.Minute || b.rounds < 1 || b.rounds > 100:
		return errors.New("a round is between 100ms and 1m long, and there are 1 to 100")
	case b.responses < 2*fewResponses || b.responses > 100_000_000:
		return fmt.Errorf("-responses=%d: it is between %d and 100000000", b.responses, 2*fewResponses)
	case b.farBehind < 2*backlogSize || b.farBehind > 100_000_000:
		return fmt.Errorf("-behind=%d: it is between %d and 100000000", b.farBehind, 2*backlogSize)
	case b.zipSize < 1 || b.zipSize > 10*largeZip:
		return fmt.Errorf("-zip=%d: it is between 1 and %d", b.zipSize, 10*largeZip)
	case flags.NArg() > 0:
		return fmt.Errorf("what is %q?", flags.Arg(0))
	case *engine != "sqlite" && os.Getenv(postgresURL) == "":
		return errNoPostgres
	}

	folder, err := os.MkdirTemp("", "formulary-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	fmt.Fprintln(b.progress, "building")
	b.binary = filepath.Join(folder, "formulary")
	if b.size, err = build(ctx, ".", b.binary); err != nil {
		return err
	}
	r := &report{bench: b, size: b.size}
	start := time.Now()
	if !slices.Contains([]string{"million", "growth", "webhooks", "mail", "files"}, b.only) {
		if err := b.compareServers(ctx, engines, folder, r); err != nil {
			return err
		}
	}
	if b.wants("million") || b.wants("growth") {
		for _, engine := range engines {
			e, err := b.measureEngine(ctx, engine, folder)
			if err != nil {
				return fmt.Errorf("%s: %w", engine, err)
			}
			r.engines = append(r.engines, e)
		}
	}
	if b.wants("webhooks") {
		for _, engine := range engines {
			f, err := b.measureWebhooks(ctx, engine, folder)
			if err != nil {
				return fmt.Errorf("%s: webhooks: %w", engine, err)
			}
			r.webhooks = append(r.webhooks, f)
		}
	}
	if b.wants("mail") {
		for _, engine := range engines {
			f, err := b.measureMail(ctx, engine, folder)
			if err != nil {
				return fmt.Errorf("%s: email: %w", engine, err)
			}
			r.mails = append(r.mails, f)
		}
	}
	if b.wants("files") {
		for _, engine := range engines {
			f, err := b.measureFiles(ctx, engine, folder)
			if err != nil {
				return fmt.Errorf("%s: files: %w", engine, err)
			}
			r.files = append(r.files, f)
		}
	}
	fmt.Print(r.render(textStyle))
	fmt.Fprintf(b.progress, "\nmeasured in %s\n", time.Since(start).Round(time.Second))
	if *markdown == "" {
		return nil
	}
	return r.save(*markdown)
}
