package cli_test

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// lineFamilies are about heads, OAuth, sign-in and connections.
func lineFamilies() []family {
	return []family{
		{name: "headers", make: expensiveHeaders},
		{name: "oauth", make: expensiveOAuth},
		{name: "tokens", make: expensiveTokens, limited: true},
		{name: "passwords", make: expensivePasswords},
		{name: "abandoned", make: expensiveAbandoned},
		{name: "idle", make: noRequests, beside: idleSockets, files: 1024},
		{name: "slow", make: noRequests, beside: slowBodies, files: 1024},
	}
}

func noRequests(*costWorld) []costly { return nil }

// Heads near the limit of a head, on pages and on the API.
func expensiveHeaders(w *costWorld) []costly {
	const most = 24 << 10
	id := w.open(map[string]any{"title": "Headers", "fields": []any{question("a", "short_text")}})
	fill := func(text string) string { return strings.Repeat(text, most/len(text)) }
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
	var all []costly
	for name, value := range values {
		if value == "" {
			continue
		}
		for _, target := range []costly{
			gets("page", "/f/"+id, asNobody), gets("home", "/", asNobody), gets("forms", "/api/v1/forms", asToken), submits("submission", id, map[string]any{"a": "x"}),
			{name: "change", method: "PATCH", path: "/api/v1/forms/" + id, as: asToken, kind: jsonType, body: `{"title":"T"}`},
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
		gets("long path", "/"+fill("a/"), asNobody), gets("long path of the API", "/api/v1/"+fill("a/"), asNobody),
		gets("dots", "/"+fill("../"), asNobody), gets("escaped", "/f/"+fill("%2f"), asNobody), gets("static", "/static/"+fill("a"), asNobody))
}

// Bodies and queries of OAuth near their limits.
func expensiveOAuth(w *costWorld) []costly {
	fill := func(text string, size int) string { return strings.Repeat(text, size/len(text)) }
	var names strings.Builder
	for i := 0; names.Len() < 60<<10; i++ {
		fmt.Fprintf(&names, "&%x", i)
	}
	grant := "client_id=" + w.app.ID + "&client_secret=" + w.app.Secret
	ask := w.app.AuthorizeURL("forms:read")
	ask.Set("state", fill("s", 20<<10))
	scopes := w.app.AuthorizeURL(fill("forms:read,", 20<<10))
	unknown := w.app.AuthorizeURL(fill("a,", 20<<10))
	var all []costly
	for _, path := range []string{"token", "refresh", "revoke", "introspect"} {
		for name, body := range map[string]string{
			"names":   names.String()[1:],
			"scopes":  grant + "&grant_type=refresh_token&refresh_token=" + w.refresh + "&scope=" + fill("forms:read,", 60<<10),
			"token":   grant + "&grant_type=refresh_token&refresh_token=" + fill("fmr_", 60<<10) + "&token=" + fill("fma_", 2<<10),
			"secret":  "client_id=" + w.app.ID + "&client_secret=" + fill("fms_", 60<<10),
			"percent": grant + "&x=" + fill("%41", 60<<10),
			"long":    grant + "&code_verifier=" + fill("a", 60<<10) + "&grant_type=authorization_code&code=fmc_x",
		} {
			all = append(all, costly{name: path + ", " + name, method: "POST", path: "/api/oauth2/" + path, kind: formType, body: body})
		}
	}
	for name, query := range map[string]url.Values{"state": ask, "scopes": scopes, "unknown scopes": unknown} {
		all = append(all, gets("authorize, "+name, "/authorize?"+query.Encode(), asSession), gets("authorize, stranger, "+name, "/authorize?"+query.Encode(), asNobody))
	}
	return append(all, gets("document", "/api/v1/openapi.json", asNobody), gets("reference", "/docs/api", asNobody), gets("metadata", "/.well-known/oauth-authorization-server", asNobody))
}

// One refresh token, used again and again.
func expensiveTokens(w *costWorld) []costly {
	body := w.app.Refresh(w.refresh).Encode()
	return []costly{{name: "refresh", method: "POST", path: "/api/oauth2/refresh", kind: formType, body: body}}
}

// Sign-in and sign-up with long secrets and wrong ones.
func expensivePasswords(w *costWorld) []costly {
	long := strings.Repeat("Pässwörd ", 5_000)
	var all []costly
	for name, password := range map[string]string{"short": "wrong-password-1", "200 characters": strings.Repeat("aB3$", 50), "long": long} {
		for i := range w.some(3, 1) {
			email := fmt.Sprintf("nobody%d-%s@example.com", i, name[:4])
			fields := url.Values{"email": {strings.ReplaceAll(email, " ", "")}, "name": {strings.Repeat("n", 5_000)}, "password": {password}}
			all = append(all,
				costly{name: "sign-in, " + name, method: "POST", path: "/signin", kind: formType, body: fields.Encode()},
				costly{name: "sign-up, " + name, method: "POST", path: "/signup", kind: formType, body: fields.Encode()},
				costly{name: "reset, " + name, method: "POST", path: "/reset", kind: formType, body: fields.Encode()})
		}
	}
	return all
}

// Searches, summaries and exports whose readers leave at once.
func expensiveAbandoned(w *costWorld) []costly {
	id := w.open(map[string]any{"title": "Abandoned", "fields": []any{question("t", "long_text")}})
	w.fill(id, w.some(2000, 50), func(i int) map[string]any {
		return map[string]any{"t": strings.Repeat("aÄ", 2000) + fmt.Sprint(i)}
	})
	api := "/api/v1/forms/" + id
	search := "search=" + url.QueryEscape(strings.Repeat("aä", 99)+"b")
	all := []costly{
		gets("list", api+"/responses?"+search, asToken), gets("feed", api+"/responses?after=&"+search, asToken),
		gets("export", api+"/responses/export?format=jsonl&"+search, asToken), gets("whole export", api+"/responses/export?format=xlsx", asToken),
		gets("page", "/forms/"+id+"/responses?"+search, asSession), gets("sorted page", "/forms/"+id+"/responses?by=t", asSession), gets("summary", api+"/summary", asToken),
	}
	for i := range all {
		all[i].cut = true
	}
	return all
}

// idleSockets opens more connections from one address than the server has files,
// and sends nothing, or a part of a head.
func idleSockets(w *costWorld, _ []costly, until <-chan struct{}) {
	hold(w, w.some(1200, 60), until, func(i int, conn net.Conn) {
		if i%2 == 1 {
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Part: ")
		}
	})
}

// slowBodies announces large bodies and sends them a byte at a time.
func slowBodies(w *costWorld, _ []costly, until <-chan struct{}) {
	hold(w, w.some(400, 20), until, func(i int, conn net.Conn) {
		path, kind := "/f/"+w.public, jsonType
		if i%2 == 1 {
			path, kind = "/signin", formType
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 60000\r\n\r\n{", path, kind)
	})
}

// hold opens connections, starts each, keeps them alive until the end, and sends
// a byte now and then on those that are in the middle of something.
func hold(w *costWorld, n int, until <-chan struct{}, begin func(i int, conn net.Conn)) {
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			conn.Close()
		}
	}()
	for i := range n {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(w.base, "http://"), time.Second)
		if err != nil {
			continue // the server refuses more, which it may
		}
		open = append(open, conn)
		begin(i, conn)
	}
	for {
		select {
		case <-until:
			return
		case <-time.After(200 * time.Millisecond):
		}
		for i, conn := range open {
			if i%2 == 1 {
				conn.Write([]byte(" ")) // it may have been closed, which is right
			}
		}
	}
}
