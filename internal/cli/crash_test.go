package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

const kills = 5

// Whatever was answered with 201 is there, exactly once, however often the
// service is killed in the middle of its work.
func TestKilled(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		owner, id := openForm(t, place)
		acknowledged := map[string]int{}
		for round := range kills {
			for _, response := range submitUntilKilled(t, place, id, round) {
				acknowledged[response]++
			}
		}
		if len(acknowledged) < kills*10 {
			t.Fatalf("only %d responses were acknowledged", len(acknowledged))
		}
		s := storetest.Open(t, place)
		found := map[string]int{}
		var last int64
		for {
			list, err := s.ResponsesAfter(context.Background(), owner, id, last, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				found[r.ID]++
				last = r.Serial
			}
			if len(list) == 0 {
				break
			}
		}
		for response, n := range acknowledged {
			if n != 1 || found[response] != 1 {
				t.Errorf("%s was acknowledged %d times and is there %d times", response, n, found[response])
			}
		}
		f, err := s.Form(context.Background(), owner, id)
		if err != nil || int(f.ResponseCount) != len(found) {
			t.Errorf("the count says %d, there are %d (%v)", f.ResponseCount, len(found), err)
		}
		t.Logf("%d acknowledged, %d stored", len(acknowledged), len(found))
	})
}

func openForm(t *testing.T, place storetest.Place) (owner, id string) {
	t.Helper()
	ctx, now := context.Background(), time.Now()
	s := storetest.Open(t, place)
	p, err := s.AddPerson(ctx, account.Person{ID: account.NewID(account.UserPrefix, now), Email: "ada@example.com", Language: "en", CreatedAt: now})
	if err != nil {
		t.Fatal(err)
	}
	d := &form.Definition{Fields: []*form.Field{{Kind: "short_text", Key: "name"}}}
	if err := d.Clean(); err != nil {
		t.Fatal(err)
	}
	f, err := s.CreateForm(ctx, p.ID, form.Head{Title: "Order", Language: "en"}, d, store.Once{}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Publish(ctx, p.ID, f.ID, 0, now); err != nil {
		t.Fatal(err)
	}
	return p.ID, f.ID
}

var saidAddress = regexp.MustCompile(`^Formulary is at (\S+) `)

// submitUntilKilled runs the service as a process, submits to it from all sides,
// kills it after some answers, and returns the ids that were acknowledged.
func submitUntilKilled(t *testing.T, place storetest.Place, id string, round int) []string {
	t.Helper()
	cmd := exec.Command("formulary", "serve", "--addr=127.0.0.1:0", "--rate-limit=off")
	cmd.Env = append(os.Environ(), "FORMULARY_DATA="+place.Data, "FORMULARY_DATABASE_URL="+place.URL)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	said := saidAddress.FindStringSubmatch(line)
	if err != nil || said == nil {
		cmd.Process.Kill()
		t.Fatalf("serve said %q (%v)", line, err)
	}
	var mu sync.Mutex
	var ids []string
	enough := make(chan struct{})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := 0; ; n++ {
				body := fmt.Sprintf(`{"answers": {"name": "%d-%d-%d"}}`, round, i, n)
				res, err := http.Post(said[1]+"/f/"+id, "application/json", bytes.NewBufferString(body))
				if err != nil {
					return // killed
				}
				text, err := io.ReadAll(res.Body)
				res.Body.Close()
				var receipt struct{ ID string }
				if err != nil || res.StatusCode != http.StatusCreated || json.Unmarshal(text, &receipt) != nil {
					return // half an answer is no acknowledgement
				}
				mu.Lock()
				ids = append(ids, receipt.ID)
				if len(ids) == 40+round*37 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(30 * time.Second):
		t.Error("the service does not take submissions")
	}
	cmd.Process.Kill()
	all.Wait()
	cmd.Wait()
	return ids
}
