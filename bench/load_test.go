package main

import (
	"math"
	"net"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	var h histogram
	for i := 1; i <= 1000; i++ {
		h.count(time.Duration(i) * time.Microsecond)
	}
	for q, want := range map[float64]time.Duration{0.5: 500 * time.Microsecond, 0.99: 990 * time.Microsecond} {
		if got := h.quantile(q); math.Abs(float64(got-want)) > 0.035*float64(want) {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
}

func TestReadResponse(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []string
		ok    bool
		fails bool
	}{
		{"at once", []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}, true, false},
		{"in pieces", []string{"HTTP/1.1 200 OK\r\nContent-", "Length: 2\r\nX: y\r\n\r", "\no", "k"}, true, false},
		{"in chunks", []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"}, true, false},
		{"in chunks in pieces", []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "2\r\no", "k\r\n3", "\r\nyes\r\n0\r", "\n\r\n"}, true, false},
		{"a bad chunk", []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n"}, false, true},
		{"an error", []string{"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"}, false, false},
		{"no length", []string{"HTTP/1.1 200 OK\r\nX: y\r\n\r\n"}, false, true},
		{"length in the body", []string{"HTTP/1.1 200 OK\r\n\r\n\r\nContent-Length: 2\r\n\r\n"}, false, true},
		{"cut short", []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"}, false, true},
		{"too much", []string{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nok"}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, server := net.Pipe()
			defer client.Close()
			go func() {
				for _, part := range c.parts {
					server.Write([]byte(part))
				}
				server.Close()
			}()
			buffer := make([]byte, 8) // grows
			if len(c.parts) == 1 {
				buffer = make([]byte, 1024)
			}
			ok, _, err := readResponse(client, &buffer)
			if ok != c.ok || (err != nil) != c.fails {
				t.Errorf("ok %v, error %v", ok, err)
			}
		})
	}
}
