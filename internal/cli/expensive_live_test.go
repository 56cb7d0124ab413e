package cli_test

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// liveFamilies are about live streams.
func liveFamilies() []family {
	return []family{
		{name: "reconnects", build: expensiveReconnects},
		streamFamily("streams", true),
		streamFamily("unread", false),
	}
}

// expensiveReconnects starts streams at the beginning of a large form and disconnects.
func expensiveReconnects(w *costFixture) []costlyRequest {
	id := w.publishForm(map[string]any{"title": "Live", "fields": []any{question("t", "long_text")}})
	w.fill(id, w.scaled(5000, 50), func(i int) map[string]any { return map[string]any{"t": strings.Repeat("x", 300) + fmt.Sprint(i)} })
	feed := w.mustCall("GET", "/api/v1/forms/"+id+"/responses?after=&limit=1", "")
	live := "/api/v1/forms/" + id + "/responses/live"
	requests := []costlyRequest{
		getRequest("from now", live, withToken), getRequest("from the beginning", live+"?after=", withToken),
		getRequest("old event", live, withToken), getRequest("wrong event", live, withToken),
		getRequest("page of the form", "/live?form="+id, withSession), getRequest("home", "/live", withSession),
	}
	requests[2].header = map[string]string{"Last-Event-ID": feed["next"].(string)}
	requests[3].header = map[string]string{"Last-Event-ID": strings.Repeat("x", 24<<10)}
	for i := range requests {
		requests[i].abandoned = true
	}
	return requests
}

// streamFamily opens as many streams as it can, while responses to the form arrive. The
// streams are read, or not at all.
func streamFamily(name string, read bool) family {
	var form string
	return family{
		name: name,
		build: func(w *costFixture) []costlyRequest {
			form = w.publishForm(map[string]any{"title": "Live", "fields": []any{question("t", "long_text")}})
			w.fill(form, w.scaled(500, 20), func(i int) map[string]any { return map[string]any{"t": strings.Repeat("x", 2_000)} })
			return nil
		},
		background: func(w *costFixture, _ []costlyRequest, until <-chan struct{}) {
			var wg sync.WaitGroup
			path := "/api/v1/forms/" + form + "/responses/live"
			if !read {
				path += "?after="
			}
			request := w.encode(getRequest("stream", path, withToken))
			wg.Go(func() {
				w.openStreams(w.scaled(1200, 30), request, read, until)
			})
			submissions := []costlyRequest{submitRequest("submission", form, map[string]any{"t": strings.Repeat("x", 2_000)})}
			w.attackWith(1, submissions, until)
			wg.Wait()
		},
	}
}

// openStreams opens n streams and keeps them open.
func (w *costFixture) openStreams(n int, request []byte, read bool, until <-chan struct{}) {
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for i := range n {
		// Each address has a share of the connections.
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, 0, byte(1+i%8))}, Timeout: time.Second}
		conn, err := dialer.Dial("tcp", strings.TrimPrefix(w.base, "http://"))
		if err != nil {
			continue // the server may refuse more connections
		}
		conns = append(conns, conn)
		conn.Write(request) // the server may have closed it
		if read {
			go func() {
				buffer := make([]byte, 4<<10)
				for {
					if _, err := conn.Read(buffer); err != nil {
						return
					}
				}
			}()
		}
	}
	<-until
}
