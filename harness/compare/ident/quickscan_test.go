package ident

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

var shapely = []string{
	"ses_0a1b2c3d4e5f", "0198c1f2-7c1e-7000-8000-000000000001", "abcdefab-abcd-abcd-abcd-abcdefabcdef", "http://localhost:4001", "http://127.0.0.1:1",
	"[::1]:1", "1765000000", "1765000000000", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "2025-06-01T12:00:00.123456789Z", "Sun, 06 Nov 1994 08:49:37 GMT",
	"2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K", "65f0a1b2c3d4e5f60718293a", "0b3f9c1e7d2a4c559a605f1e2d3c4b5a", "V1StGXR8_Z5jdHi6B-myT", "_1StGXR8_Z5jdHi6B-myT",
	"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "/tmp/a", "/var/folders/zz/abc/T/x", "a%3AV1StGXR8_Z5jdHi6B-myT", "%2Ftmp%2Fa",
}

// wordsHaveShape is documentHasShape, word by word.
func wordsHaveShape(text string) bool {
	for {
		plain, rest, escape := strings.Cut(text, `\`)
		if hasShape(plain) {
			return true
		}
		if !escape {
			return false
		}
		n := escapeLen(rest)
		if n == 0 {
			return true
		}
		text = rest[n:]
	}
}

// Searching the bytes of a document for signs gives the same answer as scanning its words.
func TestAGlanceFindsWhatHasAShape(t *testing.T) {
	for _, text := range shapely {
		if doc := `{"a":"` + text + `"}`; !documentHasShape([]byte(doc)) {
			t.Errorf("documentHasShape(%s) = false", doc)
		}
	}
	pieces := append([]string{
		`"`, `":`, `{"a":`, `,`, ` `, `\n`, `\"`, `\\`, `\u0031`, `\u003c`, `\u2028`, `\/`, `\`, "lamp", "no. 12", "x_1", "12-b", "/", "%", ":", "1", "t", ".", "tmp",
		"abcdefghij", "http://example.org:80/[a]", "é",
	}, shapely...)
	for seed := range uint64(4_000) {
		r := rand.New(rand.NewPCG(seed, 7))
		var doc strings.Builder
		for range 1 + r.IntN(6) {
			piece := pieces[r.IntN(len(pieces))]
			if r.IntN(3) == 0 {
				piece = piece[r.IntN(len(piece)):]
			}
			doc.WriteString(piece)
		}
		if got, want := documentHasShape([]byte(doc.String())), wordsHaveShape(doc.String()); got != want {
			t.Errorf("documentHasShape(%q) = %t, want %t", doc.String(), got, want)
		}
	}
}

func FuzzAGlanceAgreesWithTheWords(f *testing.F) {
	for _, text := range shapely {
		f.Add(`{"a":"` + text + `"}`)
	}
	f.Add(`\`)
	f.Add(`\u00`)
	f.Fuzz(func(t *testing.T, doc string) {
		if got, want := documentHasShape([]byte(doc)), wordsHaveShape(doc); got != want {
			t.Errorf("documentHasShape(%q) = %t, want %t", doc, got, want)
		}
	})
}

func TestHasShapeFindsEveryToken(t *testing.T) {
	for _, text := range []string{
		"x ses_0a1b2c3d4e5f", "0198c1f2-7c1e-7000-8000-000000000001", "abcdefab-abcd-abcd-abcd-abcdefabcdef", "http://localhost:4001", "http://127.0.0.1:1",
		"[::1]:1", "at 1765000000", "1765000000000", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "2025-06-01T12:00:00.123456789Z", "Sun, 06 Nov 1994 08:49:37 GMT",
		"2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K", "65f0a1b2c3d4e5f60718293a", "0b3f9c1e7d2a4c559a605f1e2d3c4b5a", "V1StGXR8_Z5jdHi6B-myT", "_1StGXR8_Z5jdHi6B-myT",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "/tmp/a", "/var/folders/zz/abc/T/x", "a%3AV1StGXR8_Z5jdHi6B-myT", "%2Ftmp%2Fa",
		"--req-7Xk2aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	} {
		if len(Scan(text, nil)) == 0 {
			t.Errorf("%q has no token", text)
		}
		if jsontree.Plain(text) {
			t.Errorf("%q is plain", text)
		}
		if !wordsHaveShape(`{"a":"` + text + `"}`) {
			t.Errorf("wordsHaveShape(%q) = false", text)
		}
	}
	for _, text := range []string{
		`\n65f0a1b2c3d4e5f60718293a`, `\u00e965f0a1b2c3d4e5f60718293a`, `\/tmp\/a`, `\u002ftmp/a`, `6\u00355f0a1b2c3d4e5f60718293a`, `x\u003aV1StGXR8_Z5jdHi6B-myT`,
	} {
		if !wordsHaveShape(text) {
			t.Errorf("wordsHaveShape(%s) = false", text)
		}
	}
	if text := `{"a":"lamp \u003cb\u003e\n\t\"x\" \\tmp\u2028"}`; wordsHaveShape(text) {
		t.Errorf("wordsHaveShape(%s) = true", text)
	}
	if text := `{"a":[1,2.5,"lamp no. 12-b","x_1"],"price":199999,"b-c":"http://example.org:80/[a]"}`; wordsHaveShape(text) {
		t.Errorf("wordsHaveShape(%s) = true", text)
	}
}
