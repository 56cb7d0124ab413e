package workspace

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"formulary/internal/web/page"
)

// progressInterval is how often a page is told how far counting is.
const progressInterval = 200 * time.Millisecond

// sendSummary counts all responses and sends events: how far it is, in percent, and at the
// end the page. It stops when the browser closes the connection.
func (pages *Pages) sendSummary(req *page.Request, p *summaryPage) error {
	h := req.W.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "private, no-store")
	h.Set("X-Accel-Buffering", "no") // for proxies that collect small writes
	control := http.NewResponseController(req.W)
	control.SetReadDeadline(time.Time{}) // when it expires, the context of the request ends
	sent, started := time.Now(), false
	send := func(event string, data any) error {
		text, err := json.Marshal(data)
		if err != nil {
			return err
		}
		started = true
		control.SetWriteDeadline(time.Now().Add(30 * time.Second))
		if _, err := fmt.Fprintf(req.W, "event: %s\ndata: %s\n\n", event, text); err != nil {
			return err
		}
		return control.Flush()
	}
	err := pages.fillSummary(req, p, counting{progress: func(share float64) error {
		if time.Since(sent) < progressInterval {
			return req.Context().Err()
		}
		sent = time.Now()
		return send("progress", int(share*100))
	}})
	var html []byte
	if err == nil {
		html, err = pages.templates.RenderText(req, "summary", p)
	}
	if err == nil {
		err = send("page", string(html))
	}
	if started {
		return nil // it is too late for an error page; without a page the browser offers to try again
	}
	return err
}
