package redact

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkText measures what it costs to search texts without a secret.
func BenchmarkText(b *testing.B) {
	var doc, page, quoted strings.Builder
	for i := range 400 {
		fmt.Fprintf(&doc, `{"id":"0f8e77a0-1b2c-4d3e-8f90-a1b2c3d4%04x","name":"Customer %d","description":"An order of some things","created_at":"2026-03-01T10:%02d:00Z","items":[1,2,3]},`, i, i, i%60)
		fmt.Fprintf(&page, "<p class=\"note\">Line %d of a text that somebody wrote &amp; nobody reads, see /docs/page-%d.html</p>\n", i, i)
		fmt.Fprintf(&quoted, `{"text":"He said: \"line %d\"\n and went on.","url":"https://host.example/a%%20b/%d"},`, i, i)
	}
	random := make([]byte, 48<<10)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	r := NewReplacer([]string{"hunter2-Hunter2-hunter2", "sk-live_0123456789abcDEF", "0f8e77a0-1b2c-4d3e-8f90-a1b2c3d4e5f6"})
	for _, bm := range []struct{ name, text string }{
		{"JSON", doc.String()}, {"page", page.String()}, {"escapes", quoted.String()}, {"Base64", base64.StdEncoding.EncodeToString(random)}, {"binary", string(random)},
		{"short", "application/json; charset=utf-8"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.text)))
			for b.Loop() {
				if r.Text(bm.text) != bm.text {
					b.Fatal("something is replaced")
				}
			}
		})
	}
}
