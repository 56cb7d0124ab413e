package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/store/storetest"
)

// The second part of "make hostile" sends requests that are valid or nearly so
// and built to cost much: long lists, wide and deep values, pipes, expressions,
// filters, searches, versions, abandoned readers, idle sockets, against forms
// built to make them dearer. Each family is a class of such requests.
//
//	make hostile HOSTILE=0                      every family, no malformed requests
//	make hostile HOSTILE=0 EXPENSIVE=pipes,lists  only these
//
// EXPENSIVE ("all" or names separated by commas) chooses the full version: the
// program runs as a process of its own, and its CPU time, its memory and the
// waits of a stranger are measured. They need a quiet machine. Without it, as in
// "make test", the service runs in the test's process with smaller inputs, and
// bytes are counted instead: those allocated and those answered.
const (
	expensiveFamilies = "EXPENSIVE"

	// mostCPU is what a request may cost for each 100 KB that it sends; one that
	// sends less counts as 100 KB.
	mostCPU  = 250 * time.Millisecond
	cpuBytes = 100 << 10
	// mostKept is the memory that may remain over that of an idle server.
	mostKept = 64 << 20
	// mostWait is how long a stranger may wait, in the median.
	mostWait = 500 * time.Millisecond
)

// costly is one request that is meant to be expensive.
type costly struct {
	name   string // of the variant, for the report
	method string
	path   string
	as     identity
	kind   string // content type
	body   string
	header map[string]string
	cut    bool // the client closes the connection as soon as it has sent
}

// identity says how a request authenticates.
type identity int

const (
	asNobody identity = iota
	asToken
	asSession
)

// family is a class of expensive requests.
type family struct {
	name string
	// make builds the forms and returns the requests to send.
	make func(w *costWorld) []costly
	// downloads says that requests ask for all that is stored: what they are
	// answered counts as sent.
	downloads bool
	// limited keeps the server's default rate limits, which others run without.
	limited bool
	// files, if set, is how many files and connections the server may have open.
	files int
	// beside runs during the stranger's probe in place of the requests.
	beside func(w *costWorld, requests []costly, until <-chan struct{})
}

// families is every class there is.
func families() []family {
	return slices.Concat(answerFamilies(), pageFamilies(), ownerFamilies(), lineFamilies())
}

// No request costs more than its size justifies, and strangers notice none.
func TestExpensiveRequests(t *testing.T) {
	chosen, seed := os.Getenv(expensiveFamilies), setting(t, hostileSeed, 1)
	list := families()
	if chosen != "" && chosen != "all" {
		names := strings.Split(chosen, ",")
		list = slices.DeleteFunc(list, func(f family) bool { return !slices.Contains(names, f.name) })
		if len(list) != len(names) {
			t.Fatalf("%s=%s: the families are %s", expensiveFamilies, chosen, familyNames())
		}
	}
	// One engine after the other, and beside no other test: what is measured is
	// the whole process.
	for _, engine := range []struct {
		name  string
		place func(testing.TB) storetest.Place
	}{{"sqlite", storetest.SQLite}, {"postgres", storetest.Postgres}} {
		t.Run(engine.name, func(t *testing.T) {
			if chosen == "" {
				countExpensive(t, engine.place(t), list, uint64(seed))
			} else {
				measureExpensive(t, engine.place(t), list, uint64(seed))
			}
		})
	}
}

func familyNames() string {
	var names []string
	for _, f := range families() {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// generatorOf makes the random choices of one family depend on the seed alone.
func generatorOf(seed uint64, name string) *rand.Rand {
	var sum uint64
	for _, c := range []byte(name) {
		sum = sum*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(seed, sum))
}

func megabytes(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

func median[T int | time.Duration](list []T) T {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
