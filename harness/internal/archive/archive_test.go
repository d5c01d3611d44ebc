package archive

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pack makes an archive of names and contents.
func pack(t testing.TB, entries ...string) []byte {
	t.Helper()
	return packWith(t, func(h *zip.FileHeader) { h.Method = zip.Deflate }, entries...)
}

func packWith(t testing.TB, how func(*zip.FileHeader), entries ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(entries); i += 2 {
		h := &zip.FileHeader{Name: entries[i]}
		how(h)
		to, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(to, entries[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAnArchiveIsADocument(t *testing.T) {
	for _, tc := range []struct {
		name    string
		entries []string
		want    string
	}{
		{"without entries", nil, `{}`},
		{"JSON", []string{"a.json", " {\"n\": 1.0, \"n\": 12345678901234567890}\n"}, `{"a.json":{"n": 1.0, "n": 12345678901234567890}}`},
		{"JSON of another name", []string{"a.JSON", "1"}, `{"a.JSON":1}`},
		{"JSON that is not called so", []string{"a.txt", "1"}, `{"a.txt":["1"]}`},
		{"what is called JSON", []string{"a.json", "{} {}"}, `{"a.json":["{} {}"]}`},
		{"nothing that is called JSON", []string{"a.json", ""}, `{"a.json":[""]}`},
		{"a byte order mark", []string{"a.json", "\ufeff{}"}, "{\"a.json\":[\"\ufeff{}\"]}"},
		{"lines of JSON", []string{"a.jsonl", "{\"a\":1}\r\n[2]\n", "b.ndjson", "3\n4"}, `{"a.jsonl":[{"a":1},[2]],"b.ndjson":[3,4]}`},
		{"lines that are not all JSON", []string{"a.jsonl", "1\n\n2\n"}, `{"a.jsonl":["1","","2",""]}`},
		{"lines that are JSON together", []string{"a.jsonl", "[1,\n2]\n"}, `{"a.jsonl":["[1,","2]",""]}`},
		{"one that ends early and one that begins", []string{"a.jsonl", "1],\"b\":[2\n"}, `{"a.jsonl":["1],\"b\":[2",""]}`},
		{"a text", []string{"logs/a.txt", "one <b> ü\r\n\ntwo"}, `{"logs/a.txt":["one <b> ü\r","","two"]}`},
		{"an empty text", []string{"a", ""}, `{"a":[""]}`},
		{"bytes", []string{"a.png", "\x89PNG"}, `{"a.png":{"size":4,"sha256":"0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543"}}`},
		{"a directory", []string{"logs/", "", "logs/a", "b"}, `{"logs/":null,"logs/a":["b"]}`},
		{"a name with quotes", []string{"a\"\\.txt", "b"}, `{"a\"\\.txt":["b"]}`},
		{"a name that is no UTF-8", []string{"a\xff", "b"}, "{\"a\ufffd\":[\"b\"]}"},
		{"a name that leads elsewhere", []string{"../../etc/passwd", "b"}, `{"../../etc/passwd":["b"]}`},
	} {
		got, err := Read(pack(t, tc.entries...))
		if err != nil {
			t.Errorf("%s: Read: %v", tc.name, err)
			continue
		}
		if d := cmp.Diff(tc.want, string(got.JSON)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
		for i, name := range got.Names {
			if want := strings.ToValidUTF8(tc.entries[2*i], "\ufffd"); name != want {
				t.Errorf("%s: name %d is %q, want %q", tc.name, i, name, want)
			}
		}
	}
}

func TestTheCompressionOfAnEntryDoesNotMatter(t *testing.T) {
	entries := []string{"a.txt", strings.Repeat("one\n", 100), "b.json", "{}"}
	want, err := Read(pack(t, entries...))
	if err != nil {
		t.Fatal(err)
	}
	for name, how := range map[string]func(*zip.FileHeader){
		"stored":  func(h *zip.FileHeader) { h.Method = zip.Store },
		"dated":   func(h *zip.FileHeader) { h.Method, h.Modified = zip.Deflate, time.Unix(1_700_000_000, 0) },
		"of one":  func(h *zip.FileHeader) { h.SetMode(0o600) },
		"with":    func(h *zip.FileHeader) { h.Comment, h.Extra = "a comment", []byte{1, 0, 0, 0} },
		"mangled": func(h *zip.FileHeader) { h.CreatorVersion, h.NonUTF8 = 3<<8, true },
	} {
		got, err := Read(packWith(t, how, entries...))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestInvalidArchivesAreReported(t *testing.T) {
	good := pack(t, "a.txt", "one two three one two three", "b.txt", "two")
	flip := func(at int) []byte {
		out := bytes.Clone(good)
		out[at] ^= 0xff
		return out
	}
	many := make([]string, 2*(MaxEntries+1))
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	large := strings.Repeat("x", MaxInEntry)
	for _, tc := range []struct {
		name, want string
		data       []byte
	}{
		{"nothing", "is no ZIP archive: zip: not a valid zip file", nil},
		{"a text", "is no ZIP archive: zip: not a valid zip file", []byte(`{"error":"no"}`)},
		{"half of one", "is no ZIP archive: zip: not a valid zip file", good[:len(good)/2]},
		{"something in front", "has something in front of its first entry", append([]byte("x"), good...)},
		{"something in front of none", "has something in front of its first entry", append([]byte("x"), pack(t)...)},
		{"something behind", "has something behind its end", append(bytes.Clone(good), 'x')},
		{"a wrong byte in an entry", `has an entry "a.txt" that cannot be read: `, flip(38)},
		{"a wrong byte in a header", `has an entry "b.txt" that cannot be read: zip: not a valid zip file`, flip(bytes.LastIndex(good, []byte("PK\x03\x04")))},
		{"another method", `has an entry "a" that cannot be read: zip: unsupported compression algorithm`, bytes.ReplaceAll(packWith(t, func(h *zip.FileHeader) { h.Method = zip.Store }, "a", "b"), []byte("\x14\x00\x08\x00\x00\x00"), []byte("\x14\x00\x08\x00\x63\x00"))},
		{"a name twice", `has the entry "a" twice`, pack(t, "a", "1", "b", "2", "a", "3")},
		{"too many entries", "has 10001 entries, and 10000 are looked at", pack(t, many...)},
		{"an entry that is too large", `has an entry "a" of more than 16777216 bytes, and no more are looked at`, pack(t, "a", large+"x")},
		{"too much in all", "has more than 33554432 bytes in its entries, and no more are looked at", pack(t, "a", large, "b", large, "c", "x")},
	} {
		if _, err := Read(tc.data); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: Read: %v, want %s", tc.name, err, tc.want)
		}
	}
	if got, err := Read(pack(t, "a", large, "b", large, "c", "")); err != nil || len(got.Names) != 3 {
		t.Errorf("as much as it may have: %v", err)
	}
}

func TestContentTypes(t *testing.T) {
	for text, want := range map[string]bool{
		"application/zip": true, "Application/ZIP; a=b": true, "application/x-zip-compressed": true, "application/epub+zip": true,
		"application/gzip": false, "application/json": false, "": false, "zip": false,
	} {
		if got := Is(text); got != want {
			t.Errorf("Is(%q): %v", text, got)
		}
	}
}

func TestContent(t *testing.T) {
	good := pack(t, "a.txt", "b")
	for _, tc := range []struct{ contentType, body, want string }{
		{"application/zip", string(good), `{"a.txt":["b"]}`},
		{"application/zip", "PK", "PK"},
		{"application/json", "{}", "{}"},
		{"", string(good), string(good)},
	} {
		if got := string(Content(tc.contentType, []byte(tc.body))); got != tc.want {
			t.Errorf("Content of %q, %q: %q, want %q", tc.contentType, tc.body, got, tc.want)
		}
	}
}

func TestReplace(t *testing.T) {
	data := pack(t, "secret.txt", "a secret\n", "b.bin", "\xffsecret", "c/", "")
	hide := func(s string) string { return strings.ReplaceAll(s, "secret", "terces") }
	out, err := Replace(data, hide)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(out)
	want, _ := Read(pack(t, "terces.txt", "a terces\n", "b.bin", "\xffterces", "c/", ""))
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if out, err := Replace(data, func(s string) string { return s }); out != nil || err != nil {
		t.Errorf("nothing to replace: %d bytes, %v", len(out), err)
	}
	if _, err := Replace(data[:20], hide); err == nil {
		t.Error("half an archive is replaced")
	}
}

func TestPackCreatesAnArchiveFromADocument(t *testing.T) {
	original := pack(t, "a.json", "{ \"n\": 1.0 }", "b.jsonl", "1\r\n2", "c.txt", "one\r\ntwo", "d.png", "\xff\x00", "e/", "", "f.json", "{")
	whole, err := Read(original)
	if err != nil {
		t.Fatal(err)
	}
	same, err := Pack(whole.JSON, original)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Read(same); err != nil || cmp.Diff(whole, got) != "" {
		t.Errorf("%v, the same (-want +got):\n%s", err, cmp.Diff(whole, got))
	}
	for _, tc := range []struct{ old, new, want string }{
		{"1.0", "2.0", `{ "n": 2.0 }`},
		{`"b.jsonl":[1,2]`, `"b.jsonl":[1,{"x": 2}]`, `"b.jsonl":[1,{"x":2}]`},
		{`["one\r","two"]`, `["one","three",""]`, `["one","three",""]`},
		{`"c.txt":`, `"g.txt":["g"],"c.txt":`, `"g.txt":["g"]`},
		{`["one\r","two"]`, `[1]`, `"c.txt":{"size":4,"sha256":"`},
		{`["one\r","two"]`, `{"a":1}`, `"c.txt":{"size":8,"sha256":"`},
		{`"size":2`, `"size":3`, `"d.png":{"size":`},
		{`,"f.json":["{"]`, ``, `"e/":null}`},
	} {
		changed := strings.Replace(string(whole.JSON), tc.old, tc.new, 1)
		if changed == string(whole.JSON) {
			t.Fatalf("%s is not in %s", tc.old, whole.JSON)
		}
		data, err := Pack([]byte(changed), original)
		if err != nil {
			t.Fatalf("%s: %v", changed, err)
		}
		got, err := Read(data)
		if err != nil || string(got.JSON) == string(whole.JSON) || !strings.Contains(string(got.JSON), tc.want) {
			t.Errorf("%s → %s: %v, %s", tc.old, tc.new, err, got.JSON)
		}
	}
	for _, doc := range []string{"", "{", `{"a"`, `{"a":}`, "[]", "null"} {
		if _, err := Pack([]byte(doc), original); err == nil {
			t.Errorf("%q is packed", doc)
		}
	}
}

// Whatever is packed, the document is JSON, and has each entry by its name and in its order.
func TestAnyArchiveIsADocument(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "\"", "\\", "\n", "\r", "{", "}", "[", "]", ",", ":", "1", "é", "\x00", "\xff", "null", "\u2028", " "}
	text := func(n int) string {
		var b strings.Builder
		for range random.IntN(n) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 2000 {
		var entries []string
		for i := range random.IntN(4) {
			name := fmt.Sprint(i, strings.ReplaceAll(text(3), "\xff", "?"), []string{".json", ".jsonl", ".txt", ""}[random.IntN(4)])
			entries = append(entries, name, text(8))
		}
		got, err := Read(pack(t, entries...))
		if err != nil {
			t.Fatalf("%q: %v", entries, err)
		}
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(got.JSON, &doc); err != nil || len(doc) != len(entries)/2 {
			t.Fatalf("%q: %s: %v", entries, got.JSON, err)
		}
		for i := 0; i < len(entries); i += 2 {
			if _, ok := doc[entries[i]]; !ok || got.Names[i/2] != entries[i] {
				t.Errorf("%q is not in %s, %q", entries[i], got.JSON, got.Names)
			}
		}
	}
}

// No input may crash Read, and what it reads must be JSON.
func FuzzRead(f *testing.F) {
	f.Add(pack(f, "a.json", `{"a":1}`, "b.jsonl", "1\n2\n", "c/", "", "d.txt", "one\ntwo"))
	f.Add(pack(f, "a", strings.Repeat("x", 1000)))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Read(data)
		if err == nil && !json.Valid(doc.JSON) {
			t.Errorf("Read: %s", doc.JSON)
		}
		if _, again := Replace(data, strings.ToUpper); (err == nil) != (again == nil) {
			t.Errorf("Read: %v, Replace: %v", err, again)
		}
	})
}
