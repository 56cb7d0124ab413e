// Package cli is the command line. It is the only package that wires the others
// together.
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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/server"
	"formulary/internal/store"
)

// commands is the command line. --help shows the environment variable of each flag.
type commands struct {
	Storage `embed:""`
	About   kong.VersionFlag `name:"version" help:"Print the version."`

	Serve   serveCommand   `cmd:"" help:"Run the server."`
	User    userCommands   `cmd:"" help:"Manage users."`
	Space   spaceCommands  `cmd:"" help:"Manage shared spaces and their members."`
	App     appCommands    `cmd:"" help:"Manage applications."`
	Key     keyCommands    `cmd:"" help:"Manage the signing key."`
	Form    formCommands   `cmd:"" help:"Export and import forms as files."`
	Export  exportCommand  `cmd:"" help:"Export the responses to a form."`
	Tail    tailCommand    `cmd:"" help:"Print the responses to a form as they arrive, one JSON object per line."`
	Files   filesCommands  `cmd:"" name:"files" help:"Check and move uploaded files."`
	Mail    mailCommands   `cmd:"" help:"Test the mail settings."`
	Migrate migrateCommand `cmd:"" help:"Apply database migrations (serve also does this)."`
	Backup  backupCommand  `cmd:"" help:"Back up everything to a file. Safe while the server is running."`
	Restore restoreCommand `cmd:"" help:"Restore a backup into an empty SQLite or PostgreSQL database."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// Storage says where the data is and how the service is reached.
type Storage struct {
	Data            string `env:"FORMULARY_DATA" default:"./formulary-data" help:"Data directory." placeholder:"DIR"`
	DatabaseURL     string `env:"FORMULARY_DATABASE_URL" help:"PostgreSQL URL (postgres://…). If empty, SQLite in the data directory is used." placeholder:"URL"`
	DatabaseURLFile string `env:"FORMULARY_DATABASE_URL_FILE" help:"File to read the database URL from, to keep it out of the environment." placeholder:"FILE"`
	Addr            string `env:"FORMULARY_ADDR" default:"127.0.0.1:8080" help:"Address to listen on."`
	BaseURL         string `env:"FORMULARY_BASE_URL" help:"Public address of the service, such as https://forms.example.com." placeholder:"URL"`
	fileSettings    `embed:""`
}

func (s Storage) url() (string, error) {
	if s.DatabaseURLFile == "" {
		return s.DatabaseURL, nil
	}
	if s.DatabaseURL != "" {
		return "", errors.New("set either the database URL or the database URL file, not both")
	}
	text, err := os.ReadFile(s.DatabaseURLFile)
	return strings.TrimSpace(string(text)), err
}

func (s Storage) open(ctx context.Context) (*store.Store, error) {
	url, err := s.url()
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, s.Data, url)
}

// connect opens the database without migrating it.
func (s Storage) connect(ctx context.Context) (*store.Store, error) {
	url, err := s.url()
	if err != nil {
		return nil, err
	}
	return store.Connect(ctx, s.Data, url)
}

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs the command of this process and exits.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, DefaultTuning, tuneRuntime)
	stop()
	os.Exit(code)
}

// Tuning holds costs that tests lower. Administrators cannot configure them.
type Tuning struct {
	HashCost account.HashCost // of password hashes
	Drain    time.Duration    // see server.Config

	// KindTemplates are the templates of question kinds that tests add; see web.Config.
	KindTemplates fs.FS
}

// DefaultTuning is used outside tests.
var DefaultTuning = Tuning{HashCost: account.DefaultHashCost, Drain: server.DefaultDrain}

// Run runs one command and returns its exit code. It changes no process-wide settings,
// so it can run many times in one process.
func (t Tuning) Run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	return run(ctx, args, streams{in, out, errOut}, t, nil)
}

func run(ctx context.Context, args []string, s streams, t Tuning, tune tuner) int {
	var c commands
	exit := -1
	parser, err := kong.New(&c,
		kong.Name("formulary"),
		kong.Description("Formulary: self-hosted online forms with an API and OAuth 2.0."),
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
		fmt.Fprintf(s.err, "formulary: %s\nRun \"formulary --help\" for usage.\n", err)
		return 2
	}
	if parsed.Selected() != nil && parsed.Selected().Name != serveName {
		ctx = store.WithActor(ctx, store.Actor{Kind: store.ActorCommandLine})
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(c.Storage, s, t, tune)
	if err := parsed.Run(); err != nil {
		fmt.Fprintln(s.err, "formulary:", describeError(err))
		return 1
	}
	return 0
}

// serveName is the name of the command whose work is the service's own.
const serveName = "serve"

// describeError formats an error for the terminal: with its cause, which API clients
// never see, and without the error code.
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

// counted returns a number with its noun.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}

// longWork is the timeout of commands that process all data.
const longWork = 6 * time.Hour

type backupCommand struct {
	File string `arg:"" help:"File to write the backup to."`
}

func (b backupCommand) Run(ctx context.Context, storage Storage, io streams) error {
	ctx, cancel := context.WithTimeout(ctx, longWork)
	defer cancel()
	s, _, err := storage.openWithFiles(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	rows, err := s.BackupFile(ctx, b.File)
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "Backed up %s from %s to %s.\n", counted(rows, "row", "rows"), s.Engine(), b.File)
	return nil
}

type restoreCommand struct {
	File string `arg:"" help:"Backup file to restore."`
}

func (r restoreCommand) Run(ctx context.Context, storage Storage, io streams) error {
	ctx, cancel := context.WithTimeout(ctx, longWork)
	defer cancel()
	file, err := os.Open(r.File)
	if err != nil {
		return err
	}
	defer file.Close()
	s, err := storage.connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	// The database may be empty, so nothing in it says where files are.
	place, err := storage.place()
	if err != nil {
		return err
	}
	blobs, err := storage.openPlace(place)
	if err != nil {
		return err
	}
	s.SetObjects(blobs)
	rows, err := s.Restore(ctx, file)
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "Restored %s into %s.\n", counted(rows, "row", "rows"), s.Engine())
	return nil
}

type versionCommand struct{}

func (versionCommand) Run(io streams) error {
	fmt.Fprintln(io.out, "formulary", Version())
	return nil
}

// Version returns the module version or VCS revision, and the Go version.
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
