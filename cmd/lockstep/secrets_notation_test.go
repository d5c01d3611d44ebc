//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/reveal"
)

// masked is a secret with characters that notations escape in many ways.
const masked = `mäsk/ed+canary "58c1"`

// disguises write a secret in a notation that does not contain it literally.
var disguises = []func(s string) string{
	func(s string) string { return escaped(s, `\u%04X`, '/', '+', '"', ' ', 'ä') },
	func(s string) string { return escaped(s, `\u%04x`, 'c', 'a', 'n', '"') },
	func(s string) string {
		return strings.NewReplacer("/", "%2f", "+", "%2B", "ä", "%c3%A4", `"`, "%22", " ", "+", "n", "%6e").Replace(s)
	},
	func(s string) string { return escaped(s, "&#%d;", '/', '+', '"', 'c', 'ä') },
	func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) },
	func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("users:" + s + "!")) },
	func(s string) string {
		return base64.URLEncoding.EncodeToString([]byte(`{"k":"` + escaped(s, `\u%04x`, '"', 'y') + `"}`))
	},
	func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	func(s string) string {
		out, _ := json.Marshal(s)
		again, _ := json.Marshal(string(out))
		return string(again)
	},
}

// escaped replaces some characters of a text by numeric escapes.
func escaped(s, format string, chars ...rune) string {
	for _, c := range chars {
		s = strings.ReplaceAll(s, string(c), fmt.Sprintf(format, c))
	}
	return s
}

// masks returns a server that reveals its secret in all disguises, in every part of its answers.
func masks(t *testing.T, greeting string) string {
	t.Helper()
	var all []string
	for _, d := range disguises {
		all = append(all, d(masked))
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i, text := range all {
			w.Header().Set(fmt.Sprintf("X-Told-%d", i), greeting+text)
		}
		switch r.URL.Path {
		case "/events":
			w.Header().Set("Content-Type", "text/event-stream")
			for _, text := range all {
				fmt.Fprintf(w, "event: %s%s\nid: %s\ndata: %s %s\n\n: %s\n\n", greeting, text, text, greeting, text, text)
			}
		case "/packed":
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			_, _ = io.WriteString(z, greeting+strings.Join(all, "\n"))
		case "/login":
			w.Header().Set("Content-Type", "application/json")
			var out bytes.Buffer
			_ = json.NewEncoder(&out).Encode(map[string]any{"greeting": greeting, "all": all, greeting + all[2]: all[0], "text": greeting + strings.Join(all, " ")})
			fmt.Fprintf(w, `{"raw":"%s%s",%s`, greeting, all[0], out.String()[1:])
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestSecretsInDisguiseAreInNoOutput checks that a secret is masked in every output, however a server has written it.
func TestSecretsInDisguiseAreInNoOutput(t *testing.T) {
	t.Setenv("CANARY", masked)
	p := newVault(t, fmt.Sprintf("  right: {url: %q, ready: {get: /health}}\n  wrong: {url: %q, ready: {get: /health}}\n", masks(t, "hello"), masks(t, "hallo")))
	var headers []string
	for i := range disguises {
		headers = append(headers, fmt.Sprintf("X-Told-%d", i))
	}
	p.write(t, "lockstep.yaml", strings.Replace(p.read("lockstep.yaml"), "[Set-Cookie, X-Own]", "["+strings.Join(headers, ", ")+"]", 1))
	p.write(t, "openapi.yaml", strings.Replace(vault, "  /login:", "  /events: {get: {responses: {\"200\": {description: ok, content: {text/event-stream: {}}}}}}\n  /packed: {get: {responses: {\"200\": {description: ok, content: {text/plain: {}}}}}}\n  /login:", 1))
	p.write(t, "scenarios/login.yaml", "scenario: login\nwhy: The key is told in many ways\nsource: the guide\nsteps:\n  - {http: GET /login, expect: {json: {$.greeting: never}}}\n  - {http: GET /packed}\n  - {open: bus, sse: GET /events}\n  - {await: bus, end: server}\n")
	texts := map[string]string{}
	for _, format := range formats {
		o := p.do(t, "run", "--format", format, "--verbose")
		if o.code != exitDiffer || strings.Count(o.stdout, "hallo") == 0 {
			t.Fatalf("run --format %s: %+v", format, o)
		}
		texts["run --format "+format] = o.stdout + o.stderr
	}
	o := p.do(t, "judge", "--verbose")
	texts["judge"] = o.stdout + o.stderr
	err := filepath.WalkDir(filepath.Join(p.dir, "reports"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		texts[d.Name()] = string(data)
		return err
	})
	if err != nil || len(texts) < len(formats)+6 {
		t.Fatalf("%d outputs, %v", len(texts), err)
	}
	seen := map[string]bool{}
	for where, text := range texts {
		if seen[text] {
			continue
		}
		seen[text] = true
		if how := reveal.Find(text, masked); how != "" {
			t.Errorf("%s reveals the secret: %s", where, how)
		}
	}
}
