package cli_test

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// connectionFamilies are about request heads, OAuth, sign-in and connections.
func connectionFamilies() []family {
	return []family{
		{name: "headers", build: expensiveHeaders},
		{name: "oauth", build: expensiveOAuth},
		{name: "tokens", build: expensiveTokens, limited: true},
		{name: "passwords", build: expensivePasswords},
		{name: "abandoned", build: expensiveAbandoned},
		{name: "idle", build: noRequests, background: idleConnections, files: 1024},
		{name: "slow", build: noRequests, background: slowBodies, files: 1024},
	}
}

func noRequests(*costFixture) []costlyRequest { return nil }

// expensiveHeaders sends heads near the size limit to pages and the API.
func expensiveHeaders(w *costFixture) []costlyRequest {
	const maxBytes = 24 << 10
	id := w.publishForm(map[string]any{"title": "Headers", "fields": []any{question("a", "short_text")}})
	fill := func(text string) string { return strings.Repeat(text, maxBytes/len(text)) }
	values := map[string]string{
		"Accept-Language":   fill("de-AT;q=0.1, "),
		"Accept":            fill("text/html;q=0.1, "),
		"Accept-Encoding":   fill("gzip;q=0.1, "),
		"If-Match":          fill(`"1", `),
		"If-None-Match":     fill(`W/"x", `),
		"Idempotency-Key":   fill("k"),
		"Cookie":            fill("a=b; "),
		"Content-Type":      "application/json" + fill("; a*0=b"),
		"Range":             "bytes=" + fill("0-0,"),
		"X-Forwarded-For":   fill("1.2.3.4, "),
		"Origin":            "https://" + fill("a."),
		"Authorization":     "Bearer " + fill("fma_"),
		"Last-Event-Id":     fill("x"),
		"Forwarded":         fill("for=1.2.3.4, "),
		"Sec-Fetch-Site":    fill("x"),
		"X-Requested-With":  fill("y"),
		"Transfer-Encoding": "",
	}
	var all []costlyRequest
	for name, value := range values {
		if value == "" {
			continue
		}
		for _, target := range []costlyRequest{
			getRequest("page", "/f/"+id, anonymous), getRequest("home", "/", anonymous), getRequest("forms", "/api/v1/forms", withToken), submitRequest("submission", id, map[string]any{"a": "x"}),
			{name: "change", method: "PATCH", path: "/api/v1/forms/" + id, as: withToken, contentType: jsonType, body: `{"title":"T"}`},
		} {
			target.name = name + " at " + target.name
			target.header = map[string]string{name: value}
			all = append(all, target)
		}
		if w.small && len(all) > 30 {
			break
		}
	}
	return append(all,
		getRequest("long path", "/"+fill("a/"), anonymous), getRequest("long path of the API", "/api/v1/"+fill("a/"), anonymous),
		getRequest("dots", "/"+fill("../"), anonymous), getRequest("escaped", "/f/"+fill("%2f"), anonymous), getRequest("static", "/static/"+fill("a"), anonymous))
}

// expensiveOAuth sends bodies and queries near their limits.
func expensiveOAuth(w *costFixture) []costlyRequest {
	fill := func(text string, size int) string { return strings.Repeat(text, size/len(text)) }
	var names strings.Builder
	for i := 0; names.Len() < 60<<10; i++ {
		fmt.Fprintf(&names, "&%x", i)
	}
	credentials := "client_id=" + w.app.ID + "&client_secret=" + w.app.Secret
	longState := w.app.AuthorizeURL("forms:read")
	longState.Set("state", fill("s", 20<<10))
	scopes := w.app.AuthorizeURL(fill("forms:read,", 20<<10))
	unknown := w.app.AuthorizeURL(fill("a,", 20<<10))
	var all []costlyRequest
	for _, path := range []string{"token", "refresh", "revoke", "introspect"} {
		for name, body := range map[string]string{
			"names":   names.String()[1:],
			"scopes":  credentials + "&grant_type=refresh_token&refresh_token=" + w.refresh + "&scope=" + fill("forms:read,", 60<<10),
			"token":   credentials + "&grant_type=refresh_token&refresh_token=" + fill("fmr_", 60<<10) + "&token=" + fill("fma_", 2<<10),
			"secret":  "client_id=" + w.app.ID + "&client_secret=" + fill("fms_", 60<<10),
			"percent": credentials + "&x=" + fill("%41", 60<<10),
			"long":    credentials + "&code_verifier=" + fill("a", 60<<10) + "&grant_type=authorization_code&code=fmc_x",
		} {
			all = append(all, costlyRequest{name: path + ", " + name, method: "POST", path: "/api/oauth2/" + path, contentType: formType, body: body})
		}
	}
	for name, query := range map[string]url.Values{"state": longState, "scopes": scopes, "unknown scopes": unknown} {
		all = append(all, getRequest("authorize, "+name, "/authorize?"+query.Encode(), withSession), getRequest("authorize, bystander, "+name, "/authorize?"+query.Encode(), anonymous))
	}
	return append(all, getRequest("document", "/api/v1/openapi.json", anonymous), getRequest("reference", "/docs/api", anonymous), getRequest("metadata", "/.well-known/oauth-authorization-server", anonymous))
}

// expensiveTokens uses one refresh token continuously.
func expensiveTokens(w *costFixture) []costlyRequest {
	body := w.app.Refresh(w.refresh).Encode()
	return []costlyRequest{{name: "refresh", method: "POST", path: "/api/oauth2/refresh", contentType: formType, body: body}}
}

// expensivePasswords signs in and up with long and wrong passwords.
func expensivePasswords(w *costFixture) []costlyRequest {
	long := strings.Repeat("Pässwörd ", 5_000)
	var all []costlyRequest
	for name, password := range map[string]string{"short": "wrong-password-1", "200 characters": strings.Repeat("aB3$", 50), "long": long} {
		for i := range w.scaled(3, 1) {
			email := fmt.Sprintf("nobody%d-%s@example.com", i, name[:4])
			fields := url.Values{"email": {strings.ReplaceAll(email, " ", "")}, "name": {strings.Repeat("n", 5_000)}, "password": {password}}
			all = append(all,
				costlyRequest{name: "sign-in, " + name, method: "POST", path: "/signin", contentType: formType, body: fields.Encode()},
				costlyRequest{name: "sign-up, " + name, method: "POST", path: "/signup", contentType: formType, body: fields.Encode()},
				costlyRequest{name: "reset, " + name, method: "POST", path: "/reset", contentType: formType, body: fields.Encode()},
				costlyRequest{name: "forgot, " + name, method: "POST", path: "/forgot", contentType: formType, body: fields.Encode()})
		}
	}
	return all
}

// expensiveAbandoned starts searches, summaries and exports and disconnects at once.
func expensiveAbandoned(w *costFixture) []costlyRequest {
	id := w.publishForm(map[string]any{"title": "Abandoned", "fields": []any{question("t", "long_text")}})
	w.fill(id, w.scaled(2000, 50), func(i int) map[string]any {
		return map[string]any{"t": strings.Repeat("aÄ", 2000) + fmt.Sprint(i)}
	})
	api := "/api/v1/forms/" + id
	search := "search=" + url.QueryEscape(strings.Repeat("aä", 99)+"b")
	all := []costlyRequest{
		getRequest("list", api+"/responses?"+search, withToken), getRequest("feed", api+"/responses?after=&"+search, withToken),
		getRequest("export", api+"/responses/export?format=jsonl&"+search, withToken), getRequest("whole export", api+"/responses/export?format=xlsx", withToken),
		getRequest("page", "/forms/"+id+"/responses?"+search, withSession), getRequest("sorted page", "/forms/"+id+"/responses?by=t", withSession), getRequest("summary", api+"/summary", withToken),
	}
	for i := range all {
		all[i].abandoned = true
	}
	return all
}

// idleConnections opens more connections from one address than the server has file
// descriptors, and sends nothing or part of a head.
func idleConnections(w *costFixture, _ []costlyRequest, until <-chan struct{}) {
	holdConnections(w, w.scaled(1200, 60), until, func(i int, conn net.Conn) {
		if i%2 == 1 {
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Part: ")
		}
	})
}

// slowBodies announces large bodies and sends one byte at a time.
func slowBodies(w *costFixture, _ []costlyRequest, until <-chan struct{}) {
	holdConnections(w, w.scaled(400, 20), until, func(i int, conn net.Conn) {
		path, kind := "/f/"+w.public, jsonType
		if i%2 == 1 {
			path, kind = "/signin", formType
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 60000\r\n\r\n{", path, kind)
	})
}

// holdConnections opens n connections and keeps them open. Every 200 ms it sends a byte
// on those with an unfinished request.
func holdConnections(w *costFixture, n int, until <-chan struct{}, sendStart func(i int, conn net.Conn)) {
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for i := range n {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(w.base, "http://"), time.Second)
		if err != nil {
			continue // the server may refuse more connections
		}
		conns = append(conns, conn)
		sendStart(i, conn)
	}
	for {
		select {
		case <-until:
			return
		case <-time.After(200 * time.Millisecond):
		}
		for i, conn := range conns {
			if i%2 == 1 {
				conn.Write([]byte(" ")) // the server may have closed it
			}
		}
	}
}
