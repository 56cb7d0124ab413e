//go:build unix

package scripts_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sandbox is a directory with a copy of the scripts, and fake programs that the scripts
// call.
type sandbox struct {
	t   *testing.T
	dir string
}

func newSandbox(t *testing.T) sandbox {
	t.Helper()
	r := sandbox{t, t.TempDir()}
	names, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() || strings.HasSuffix(name, ".go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r.write(filepath.Join("scripts", name), string(text))
	}
	return r
}

func (r sandbox) write(name, text string) {
	r.t.Helper()
	name = filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		r.t.Fatal(err)
	}
}

// addProgram adds a fake program to the search path. It logs its calls to NAME.calls.
func (r sandbox) addProgram(name, script string) {
	r.t.Helper()
	r.write(filepath.Join("bin", name), "#!/bin/sh\necho \"$@\" >>\""+filepath.Join(r.dir, name+".calls")+"\"\n"+script)
}

func (r sandbox) countCalls(name string) int {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name+".calls"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// run returns the output of a script and its exit status.
func (r sandbox) run(script string, args ...string) (string, int) {
	r.t.Helper()
	cmd := exec.Command(filepath.Join(r.dir, "scripts", script), args...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(r.dir, "bin")+":"+os.Getenv("PATH"), "NEED_RETRY_SECONDS=0")
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return string(out), 0
}

// TestInstallTestDeps: failures of npm are shown, and network failures are retried
// once.
func TestInstallTestDeps(t *testing.T) {
	const broken = "echo 'npm error code E404' >&2\necho 'npm error 404 Not Found: axe-core' >&2\nexit 1\n"
	const offline = "echo 'npm error code ENOTFOUND' >&2\nexit 1\n"
	for name, c := range map[string]struct {
		npm    string
		status int
		calls  int
		says   string
	}{
		"an error is shown":               {broken, 1, 1, "npm error 404 Not Found: axe-core"},
		"a network error is tried twice":  {offline, 1, 2, "npm error code ENOTFOUND"},
		"a network error that goes away":  {"[ $(wc -l <$0.seen 2>/dev/null || echo 0) != 0 ] && exit 0\necho x >$0.seen\n" + offline, 0, 2, "trying again"},
		"nothing is said when it is fine": {"echo added 1 package\n", 0, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newSandbox(t)
			r.addProgram("npm", c.npm)
			out, status := r.run("install-test-deps", "axe")
			if status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			if got := r.countCalls("npm"); got != c.calls {
				t.Errorf("%d calls of npm, want %d", got, c.calls)
			}
			if !strings.Contains(out, c.says) || c.says == "" && out != "" {
				t.Errorf("the output is %q, want %q", out, c.says)
			}
		})
	}
}

// TestInstallShowsPackageErrors: the output of apt-get is shown if it fails.
func TestInstallShowsPackageErrors(t *testing.T) {
	r := newSandbox(t)
	r.write("scripts/lib.sh", "find_postgres() { return 1; }\n")
	r.addProgram("sudo", "exec \"$@\"\n")
	r.addProgram("apt-get", "case \"$*\" in *install*) echo 'E: Unable to locate package postgresql'; exit 100 ;; esac\n")
	out, status := r.run("install-test-deps", "postgres")
	if status != 100 || !strings.Contains(out, "E: Unable to locate package postgresql") || r.countCalls("apt-get") != 2 {
		t.Errorf("status %d after %d calls:\n%s", status, r.countCalls("apt-get"), out)
	}
}

func TestVulncheck(t *testing.T) {
	const unchecked = "NOTHING WAS CHECKED"
	// The fake "go install" installs a govulncheck with the output of the case.
	install := func(check string) string {
		return "printf '%s\\n' '#!/bin/sh' '" + check + "' >\"$GOBIN/govulncheck\"\nchmod +x \"$GOBIN/govulncheck\"\n"
	}
	unreachable := install(`echo "govulncheck: fetching vulnerabilities: dial tcp: no such host"; exit 1`)
	for name, c := range map[string]struct {
		golang         string
		lint, strict   int
		says, saysNone string
	}{
		"checked, nothing found":   {install(`echo "No vulnerabilities found."`), 0, 0, "No vulnerabilities found.", unchecked},
		"checked, something found": {install(`echo "Your code is affected by 1 vulnerability"; exit 3`), 3, 3, "affected", unchecked},
		"database out of reach":    {unreachable, 0, 75, unchecked, "No vulnerabilities found"},
		"govulncheck out of reach": {"echo 'dial tcp: no such host' >&2\nexit 1\n", 0, 75, unchecked, "No vulnerabilities found"},
		"it fails otherwise":       {install(`echo "govulncheck: loading packages: syntax error"; exit 1`), 1, 1, "syntax error", unchecked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newSandbox(t)
			r.addProgram("go", c.golang)
			for _, run := range []struct {
				args   []string
				status int
			}{{nil, c.lint}, {[]string{"--strict"}, c.strict}} {
				out, status := r.run("vulncheck", run.args...)
				if status != run.status || !strings.Contains(out, c.says) || strings.Contains(out, c.saysNone) {
					t.Errorf("vulncheck %v: status %d:\n%s", run.args, status, out)
				}
			}
		})
	}
}

// TestReleaseRefusesUnchecked: without a vulnerability check there is no release,
// unless UNCHECKED=1 allows it.
func TestReleaseRefusesUnchecked(t *testing.T) {
	r := newSandbox(t)
	r.addProgram("go", "case \"$1\" in install) exit 1 ;; esac\necho built >&2\nexit 9\n")
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "scripts"}, {"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "-m", "test"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	out, status := r.run("release")
	if status != 75 || !strings.Contains(out, "No release") || strings.Contains(out, "building") {
		t.Errorf("status %d:\n%s", status, out)
	}
	t.Setenv("UNCHECKED", "1")
	// The release gets as far as building, at which the fake go fails.
	out, status = r.run("release")
	if status != 9 || !strings.Contains(out, "NOTHING WAS CHECKED") || !strings.Contains(out, "building for linux/amd64") {
		t.Errorf("with UNCHECKED=1: status %d:\n%s", status, out)
	}
}
