package api_test

import (
	"bufio"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/store/storetest"
)

// heldMemory returns what the heap and the stacks of goroutines hold.
func heldMemory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// 1,000 readers of one form share its work. The memory includes that of the clients, which
// run in the same process. The test is not parallel, so that nothing else uses memory.
func TestLiveManyReaders(t *testing.T) {
	w := newFixture(t, storetest.MigratedSQLite(t), "--rate-limit=off", "--max-connections=4000", "--max-connections-per-address=2000")
	const readers, responses, maxMemory = 1000, 20, 100 << 20
	path := w.openForm(w.ada, numbersForm)
	before := heldMemory()
	arrived := make(chan time.Time, readers*responses)
	var connected, done sync.WaitGroup
	connected.Add(readers)
	var conns []net.Conn
	for range readers {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.Local, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		fmt.Fprintf(conn, "GET %s/responses/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, w.ada)
		done.Go(func() {
			lines := bufio.NewScanner(conn)
			lines.Buffer(make([]byte, 512), 64<<10)
			connect := sync.OnceFunc(connected.Done)
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "id: ") {
					connect() // the first event has an ID alone
				}
				if strings.HasPrefix(lines.Text(), "data: ") {
					arrived <- time.Now()
				}
			}
		})
	}
	connected.Wait()
	var delays []time.Duration
	for n := range responses {
		w.submitNumber(path, n)
		submitted := time.Now()
		for range readers {
			select {
			case at := <-arrived:
				delays = append(delays, max(0, at.Sub(submitted)))
			case <-time.After(20 * time.Second):
				t.Fatalf("response %d is not at all readers", n)
			}
		}
	}
	memory := heldMemory() - before
	slices.Sort(delays)
	t.Logf("%d MB, median %v, last %v", memory>>20, delays[len(delays)/2], delays[len(delays)-1])
	if memory > maxMemory {
		t.Errorf("%d readers hold %d MB", readers, memory>>20)
	}
	if median := delays[len(delays)/2]; median > 250*time.Millisecond {
		t.Errorf("the median delay is %v", median)
	}
	for _, conn := range conns {
		conn.Close()
	}
	done.Wait()
}
