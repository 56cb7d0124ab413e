// Package cli is the command line, and the only place that wires the parts of
// Formulary together.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/server"
	"formulary/internal/store"
)

// commands is the whole command line. Each flag has its environment variable,
// and --help shows both.
type commands struct {
	Storage `embed:""`
	About   kong.VersionFlag `name:"version" help:"Print the version."`

	Serve   serveCommand   `cmd:"" help:"Run the service."`
	User    userCommands   `cmd:"" help:"Manage people."`
	App     appCommands    `cmd:"" help:"Manage applications."`
	Key     keyCommands    `cmd:"" help:"Manage the key that signs what pages carry."`
	Form    formCommands   `cmd:"" help:"Forms as files."`
	Export  exportCommand  `cmd:"" help:"Write the responses to a form to a file."`
	Migrate migrateCommand `cmd:"" help:"Bring the database up to date (serve does so too)."`
	Backup  backupCommand  `cmd:"" help:"Write everything to a file, also while serving."`
	Restore restoreCommand `cmd:"" help:"Read a backup into an empty place, of either database."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// Storage is where the data is.
type Storage struct {
	Data            string `env:"FORMULARY_DATA" default:"./formulary-data" help:"Folder for the data." placeholder:"FOLDER"`
	DatabaseURL     string `env:"FORMULARY_DATABASE_URL" help:"postgres://… for PostgreSQL; empty for SQLite in the data folder." placeholder:"URL"`
	DatabaseURLFile string `env:"FORMULARY_DATABASE_URL_FILE" help:"File that holds the database URL, which is a secret." placeholder:"FILE"`
	Addr            string `env:"FORMULARY_ADDR" default:"127.0.0.1:8080" help:"Address that serve listens on."`
	BaseURL         string `env:"FORMULARY_BASE_URL" help:"Address by which people reach the service, such as https://forms.example.com." placeholder:"URL"`
}

func (p Storage) url() (string, error) {
	if p.DatabaseURLFile == "" {
		return p.DatabaseURL, nil
	}
	if p.DatabaseURL != "" {
		return "", errors.New("give the database URL or the file that holds it, not both")
	}
	text, err := os.ReadFile(p.DatabaseURLFile)
	return strings.TrimSpace(string(text)), err
}

func (p Storage) open(ctx context.Context) (*store.Store, error) {
	url, err := p.url()
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, p.Data, url)
}

// connect opens the database without changing its schema.
func (p Storage) connect(ctx context.Context) (*store.Store, error) {
	url, err := p.url()
	if err != nil {
		return nil, err
	}
	return store.Connect(ctx, p.Data, url)
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs the command of this process.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, DefaultTuning, tuneRuntime)
	stop()
	os.Exit(code)
}

// Tuning is what tests lower, because it costs time on purpose. Operators have
// nothing to choose here.
type Tuning struct {
	HashCost account.HashCost // of passwords
	Drain    time.Duration    // see server.Config

	// KindTemplates are those of kinds of question that a test adds; see web.Config.
	KindTemplates fs.FS
}

// DefaultTuning is what the program uses.
var DefaultTuning = Tuning{HashCost: account.DefaultHashCost, Drain: server.DefaultDrain}

// Run runs one command and returns its exit code. It changes nothing of the
// process, so it can run many times.
func (t Tuning) Run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	return run(ctx, args, streams{in, out, errOut}, t, nil)
}

func run(ctx context.Context, args []string, s streams, t Tuning, tune tuner) int {
	var c commands
	exit := -1
	parser, err := kong.New(&c,
		kong.Name("formulary"),
		kong.Description("An online forms service with an OAuth 2.0 platform, in one binary."),
		kong.UsageOnError(),
		kong.Writers(s.out, s.err),
		kong.Vars{"version": "formulary " + Version()},
		kong.Exit(func(code int) { exit = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(s.err, "formulary:", err)
		return 2
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 { // --help or --version has been printed
		return exit
	}
	if err != nil {
		fmt.Fprintf(s.err, "formulary: %s\nSee formulary --help.\n", err)
		return 2
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(c.Storage, s, t, tune)
	if err := parsed.Run(); err != nil {
		fmt.Fprintln(s.err, "formulary:", describeError(err))
		return 1
	}
	return 0
}

// describeError is an error as the person at the command line should read it: with its
// cause, which is theirs to know, and without the code, which is not.
func describeError(err error) string {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err.Error()
	}
	text := e.Message
	if e.Cause != nil {
		text += " (" + e.Cause.Error() + ")"
	}
	return text
}

// longWork bounds commands that go through all the data.
const longWork = 6 * time.Hour

type backupCommand struct {
	File string `arg:"" help:"Where to write it."`
}

func (b backupCommand) Run(ctx context.Context, place Storage, io streams) error {
	ctx, cancel := context.WithTimeout(ctx, longWork)
	defer cancel()
	s, err := place.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	rows, err := s.BackupFile(ctx, b.File)
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "%d rows from %s are in %s.\n", rows, s.Engine(), b.File)
	return nil
}

type restoreCommand struct {
	File string `arg:"" help:"The backup."`
}

func (r restoreCommand) Run(ctx context.Context, place Storage, io streams) error {
	ctx, cancel := context.WithTimeout(ctx, longWork)
	defer cancel()
	file, err := os.Open(r.File)
	if err != nil {
		return err
	}
	defer file.Close()
	s, err := place.connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	rows, err := s.Restore(ctx, file)
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "%d rows are restored into %s.\n", rows, s.Engine())
	return nil
}

type versionCommand struct{}

func (versionCommand) Run(io streams) error {
	fmt.Fprintln(io.out, "formulary", Version())
	return nil
}

// Version is what the binary was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "development"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && len(setting.Value) >= 12 && version == "development" {
			version += " " + setting.Value[:12]
		}
	}
	return version + " " + info.GoVersion
}
