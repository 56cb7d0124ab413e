package cli_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"formulary/internal/store/storetest"
)

// Clients that begin a request and do not go on take nothing from the others, and
// are sent away after a while.
func TestSlowSockets(t *testing.T) {
	t.Parallel()
	place := storetest.SQLite(t)
	f := openSurvey(t, place, 0)
	p := launch(t, place)
	before := p.resident()
	address := strings.TrimPrefix(p.url, "http://")
	var slow []net.Conn
	for i := range times(200, 2000) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		begun := "POST " + f.page + " HTTP/1.1\r\nHost: x\r\n"
		if i%2 == 0 { // the head is there, of the body only a byte
			begun += "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"
		}
		if _, err := conn.Write([]byte(begun)); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, conn)
	}
	var longest time.Duration
	for n := range 100 {
		start := time.Now()
		if a := p.post(f.page, submission(fmt.Sprintf("beside-%d", n))); a.status != http.StatusCreated {
			t.Fatalf("beside slow clients: %s", a)
		}
		longest = max(longest, time.Since(start))
	}
	after := p.resident()
	if after-before > 40+len(slow)/20 {
		t.Errorf("%d slow clients take %d MB", len(slow), after-before)
	}
	sentAway := ""
	if long { // it takes as long as the service is patient
		since := time.Now()
		for i, conn := range slow {
			conn.SetReadDeadline(time.Now().Add(patience))
			if _, err := bufio.NewReader(conn).ReadByte(); err == nil {
				continue // told so in words
			} else if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				t.Fatalf("a client that sent %s is still there after %v", []string{"half a body", "half a head"}[i%2], patience)
			}
		}
		sentAway = fmt.Sprintf("; half a head and half a body are given up after %v", time.Since(since).Round(time.Second))
	}
	figure(t, fmt.Sprintf("%d slow sockets", len(slow)), "all of 100 submissions beside them taken, the slowest in %v; %d MB more memory%s",
		longest.Round(time.Millisecond), after-before, sentAway)
	for _, conn := range slow {
		conn.Close()
	}
	p.stop()
}

// What is far too large is refused as soon as that is seen, and leaves nothing
// behind.
func TestHugeRequests(t *testing.T) {
	t.Parallel()
	place := storetest.SQLite(t)
	f := openSurvey(t, place, 0)
	p := launch(t, place)
	before := p.resident()
	rounds := times(3, 50)
	told, hungUp := 0, 0
	head := func(size int) string { return "X-Long: " + strings.Repeat("x", size) }
	for range rounds {
		for name, try := range map[string]struct {
			want int
			ask  func() answer
		}{
			"a header of 2 MB":        {431, func() answer { return p.post(f.page, submission("x"), head(2<<20)) }},
			"a body of 20 MB":         {413, func() answer { return p.post(f.page, submission(strings.Repeat("x", 20<<20))) }},
			"half a million levels":   {400, func() answer { return p.post(f.page, `{"answers": {"note": `+strings.Repeat("[", 500_000)) }},
			"a path of 2 MB":          {431, func() answer { return p.get("/"+strings.Repeat("x", 2<<20), "") }},
			"a parameter 2,000 times": {400, func() answer { return p.get(f.path+"?"+strings.Repeat("page=1&", 2_000), f.token) }},
			"a long answer":           {422, func() answer { return p.post(f.page, submission(strings.Repeat("x", 900_000))) }},
		} {
			a := try.ask()
			// A client that is still sending may find the line closed before the answer.
			switch {
			case a.err != nil:
				hungUp++
			case a.status != try.want:
				t.Errorf("%s: %s, want %d", name, a, try.want)
			default:
				told++
			}
		}
		if a := p.post(f.page, submission("small")); a.status != http.StatusCreated {
			t.Fatalf("after huge requests: %s", a)
		}
	}
	if found := p.stored(f); len(found) != rounds {
		t.Errorf("%d responses are stored, want %d", len(found), rounds)
	}
	after := p.resident()
	if after > before+200 {
		t.Errorf("%d MB before, %d MB after", before, after)
	}
	if told < 3*rounds { // what is wrong only inside is read to its end
		t.Errorf("of %d huge requests only %d were told what is wrong", told+hungUp, told)
	}
	figure(t, "huge headers, bodies, depths", "%d refused with 400, 413, 422 or 431, %d cut off while they were still sending; %d MB before, %d MB after", told, hungUp, before, after)
	p.stop()
}
