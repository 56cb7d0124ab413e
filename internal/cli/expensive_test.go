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

// The second part of "make hostile" sends requests that are valid or almost valid and
// designed to be expensive: long lists, wide and deep values, pipes, expressions,
// filters, searches, versions, abandoned requests and idle connections, on forms that
// make them more expensive. Each family is a class of such requests.
//
//	make hostile HOSTILE=0                        every family, no malformed requests
//	make hostile HOSTILE=0 EXPENSIVE=pipes,lists  only these families
//
// If EXPENSIVE is set ("all" or names separated by commas), the full version runs: the
// server is a separate process, and its CPU time, its memory and the waiting time of a
// bystander are measured. It needs an idle machine. Otherwise, as in "make test", the
// server runs in the test process with smaller inputs, and only allocated and received
// bytes are counted.
const (
	expensiveFamilies = "EXPENSIVE"

	// maxCPU is the CPU time that a request may cost for each 100 KB sent. Smaller
	// requests count as 100 KB.
	maxCPU   = 250 * time.Millisecond
	cpuBytes = 100 << 10
	// maxRetained is the memory that may remain above that of an idle server.
	maxRetained = 64 << 20
	// maxWait is the median time that a bystander may wait.
	maxWait = 500 * time.Millisecond
	// maxDeliveryWait is the same for a delivery to a bystander's webhook.
	maxDeliveryWait = 2 * time.Second
)

// costlyRequest is a request that is designed to be expensive.
type costlyRequest struct {
	name        string // variant, for the report
	method      string
	path        string
	as          identity
	contentType string
	body        string
	header      map[string]string
	abandoned   bool // the client disconnects after sending
}

// identity is how a request authenticates.
type identity int

const (
	anonymous identity = iota
	withToken
	withSession
)

// family is a class of expensive requests.
type family struct {
	name string
	// build creates the forms and returns the requests.
	build func(w *costFixture) []costlyRequest
	// downloads is true for requests that read all stored data: the bytes received
	// count as sent.
	downloads bool
	// limited keeps the default rate limits; other families run without.
	limited bool
	// delivers is true for requests that cause deliveries: the bytes that a receiver gets
	// count as sent.
	delivers bool
	// watchesDeliveries is true if a bystander's deliveries are measured too.
	watchesDeliveries bool
	// files, if set, is the limit of open files and connections of the server.
	files int
	// background replaces the attack during the bystander's requests.
	background func(w *costFixture, requests []costlyRequest, until <-chan struct{})
}

// families returns all families.
func families() []family {
	return slices.Concat(answerFamilies(), pageFamilies(), ownerFamilies(), connectionFamilies(), webhookFamilies(), liveFamilies())
}

// TestExpensiveRequests: no request costs more than its size justifies, and other users
// are not affected.
func TestExpensiveRequests(t *testing.T) {
	selected, seed := os.Getenv(expensiveFamilies), envInt(t, hostileSeed, 1)
	list := families()
	if selected != "" && selected != "all" {
		names := strings.Split(selected, ",")
		list = slices.DeleteFunc(list, func(f family) bool { return !slices.Contains(names, f.name) })
		if len(list) != len(names) {
			t.Fatalf("%s=%s: the families are %s", expensiveFamilies, selected, familyNames())
		}
	}
	// The engines run one after the other and not in parallel with other tests, because
	// the whole process is measured.
	for _, engine := range []struct {
		name     string
		newPlace func(testing.TB) storetest.Storage
	}{{"sqlite", storetest.SQLite}, {"postgres", storetest.Postgres}} {
		t.Run(engine.name, func(t *testing.T) {
			if selected == "" {
				countExpensive(t, engine.newPlace(t), list, uint64(seed))
			} else {
				measureExpensive(t, engine.newPlace(t), list, uint64(seed))
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

// newRandom makes the random choices of a family depend only on the seed.
func newRandom(seed uint64, name string) *rand.Rand {
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
