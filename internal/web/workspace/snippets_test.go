package workspace

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// signedRequest is a request for a snippet to verify.
type signedRequest struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Valid   bool              `json:"valid"`
}

func signedRequests(t *testing.T) []signedRequest {
	t.Helper()
	const secret, other, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", `{"type":"webhook.test","name":"Zoë"}`
	sign := func(with string, at time.Time) string {
		wh, err := standardwebhooks.NewWebhook(with)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := wh.Sign("evt_1", at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	headers := func(at time.Time, signature string) map[string]string {
		return map[string]string{"webhook-id": "evt_1", "webhook-timestamp": strconv.FormatInt(at.Unix(), 10), "webhook-signature": signature}
	}
	now := time.Now()
	old, future := now.Add(-time.Hour), now.Add(time.Hour)
	anotherID := headers(now, sign(secret, now))
	anotherID["webhook-id"] = "evt_2"
	noTime := headers(now, sign(secret, now))
	noTime["webhook-timestamp"] = "soon"
	return []signedRequest{
		{"signed", secret, headers(now, sign(secret, now)), body, true},
		{"the second of two signatures", secret, headers(now, sign(other, now)+" "+sign(secret, now)), body, true},
		{"the first of two signatures", other, headers(now, sign(other, now)+" "+sign(secret, now)), body, true},
		{"another secret", other, headers(now, sign(secret, now)), body, false},
		{"another body", secret, headers(now, sign(secret, now)), body + " ", false},
		{"another ID", secret, anotherID, body, false},
		{"too old", secret, headers(old, sign(secret, old)), body, false},
		{"in the future", secret, headers(future, sign(secret, future)), body, false},
		{"no time", secret, noTime, body, false},
		{"empty signature", secret, headers(now, ""), body, false},
		{"cut signature", secret, headers(now, sign(secret, now)[:20]), body, false},
		{"no headers", secret, map[string]string{}, body, false},
	}
}

// The snippets accept what is signed, and nothing else.
func TestSnippets(t *testing.T) {
	t.Parallel()
	cases := signedRequests(t)
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		language, program, file, code string
		args                          []string
	}{
		{"Go", "go", "main.go", "package main\n" + goImports + snippets[0].Code + goDriver, []string{"run", "main.go"}},
		{"JavaScript", "node", "main.mjs", snippets[1].Code + javaScriptDriver, []string{"main.mjs"}},
		{"Python", "python3", "main.py", snippets[2].Code + pythonDriver, []string{"main.py"}},
	} {
		t.Run(c.language, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(c.program)
			if err != nil {
				t.Fatal(err) // scripts/install-test-deps installs it
			}
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, c.file), []byte(c.code), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.Command(program, c.args...)
			command.Dir, command.Stdin = folder, bytes.NewReader(input)
			output, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			var valid []bool
			if err := json.Unmarshal(output, &valid); err != nil || len(valid) != len(cases) {
				t.Fatalf("%v\n%s", err, output)
			}
			for i, request := range cases {
				if valid[i] != request.Valid {
					t.Errorf("%s: %v", request.Name, valid[i])
				}
			}
		})
	}
}

const goImports = `
import (
	"encoding/json"
	"os"
)
`

const goDriver = `

func main() {
	var cases []struct {
		Secret  string
		Headers map[string]string
		Body    string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	valid := []bool{}
	for _, c := range cases {
		header := http.Header{}
		for name, value := range c.Headers {
			header.Set(name, value)
		}
		valid = append(valid, Verify(c.Secret, header, []byte(c.Body)) == nil)
	}
	json.NewEncoder(os.Stdout).Encode(valid)
}
`

const javaScriptDriver = `
import { readFileSync } from "node:fs";
const cases = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map((c) => verify(c.secret, c.headers, Buffer.from(c.body)))));
`

const pythonDriver = `

import json
import sys

print(json.dumps([verify(c["secret"], c["headers"], c["body"].encode()) for c in json.load(sys.stdin)]))
`
