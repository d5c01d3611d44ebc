package compare

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// zipped makes an archive from alternating names and contents.
func zipped(entries ...string) []byte {
	return zippedBy(&zip.FileHeader{Method: zip.Deflate}, entries...)
}

func zippedBy(how *zip.FileHeader, entries ...string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(entries); i += 2 {
		h := *how
		h.Name = entries[i]
		to, err := w.CreateHeader(&h)
		if err == nil {
			_, err = io.WriteString(to, entries[i+1])
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

var zippedAt = time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC)

// sends returns the transcript of a target that responds with an archive.
func sends(archive []byte) *transcript.Transcript {
	return &transcript.Transcript{Started: zippedAt, Steps: []transcript.Step{{ID: "1", Exchanges: []*transcript.Exchange{{
		Request: transcript.Request{Method: "GET", Target: "/diagnostics"},
		Response: &transcript.Response{
			Status: 200,
			Header: transcript.Header{{Name: "Content-Type", Value: "application/zip"}, {Name: "Content-Length", Value: fmt.Sprint(len(archive))}},
			Body:   transcript.Body{Bytes: archive, Size: int64(len(archive))},
		},
	}}}}}
}

func TestArchivesAreComparedByWhatTheyHold(t *testing.T) {
	whole := []string{"logs/a.jsonl", "{\"n\":1}\n{\"n\":2}\n", "session.json", `{"id":"` + ours + `","name":"A"}`, "config.yaml", "a: 1\nb: 2\n", "pixel.png", "\x89PNG"}
	with := func(name, content string) []byte {
		other := append([]string{}, whole...)
		for i := 0; i < len(other); i += 2 {
			if other[i] == name {
				other[i+1] = content
			}
		}
		return zipped(other...)
	}
	volatile := func(rules ...jsondiff.Volatile) Rules { return Rules{Volatile: rules} }
	for _, tc := range []struct {
		name      string
		ref, cand []byte
		rules     Rules
		want      []string
	}{
		{"the same", zipped(whole...), zipped(whole...), Rules{}, nil},
		{"kept in another way, at another time", zipped(whole...), zippedBy(&zip.FileHeader{Method: zip.Store, Modified: zippedAt}, whole...), Rules{}, nil},
		{"JSON that is written otherwise", zipped(whole...), with("session.json", "{\n \"name\": \"A\", \"id\": \""+ours+"\"}\n"), Rules{}, nil},
		{"an id of its own", zipped(whole...), with("session.json", `{"id":"`+theirs+`","name":"A"}`), Rules{}, nil},
		{"another value", zipped(whole...), with("session.json", `{"id":"`+theirs+`","name":"B"}`), Rules{}, []string{"value body /session.json/name"}},
		{"another value in a line", zipped(whole...), with("logs/a.jsonl", "{\"n\":1}\n{\"n\":3}\n"), Rules{}, []string{"value body /logs~1a.jsonl/1/n"}},
		{"a line too many", zipped(whole...), with("logs/a.jsonl", "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n"), Rules{}, []string{"element-extra body /logs~1a.jsonl/2"}},
		{"another line of a text", zipped(whole...), with("config.yaml", "a: 1\nb: 3\n"), Rules{}, []string{"value body /config.yaml/1"}},
		{"a line feed at the end", zipped(whole...), with("config.yaml", "a: 1\nb: 2"), Rules{}, []string{"element-missing body /config.yaml/2"}},
		{"other line ends", zipped("a", "1\n"), zipped("a", "1\r\n"), Rules{}, []string{"value body /a/0"}},
		{"other bytes", zipped(whole...), with("pixel.png", "\x89PNh"), Rules{}, []string{"value body /pixel.png/sha256"}},
		{"what is no JSON", zipped(whole...), with("session.json", "{"), Rules{}, []string{"type body /session.json"}},
		{"one entry less", zipped(whole...), zipped(whole[:6]...), Rules{}, []string{"field-missing body /pixel.png"}},
		{"one entry more", zipped(whole[:6]...), zipped(whole...), Rules{}, []string{"field-extra body /pixel.png"}},
		{"an entry of another name", zipped("a.txt", "1", "b.txt", "2"), zipped("a.txt", "1", "c.txt", "2"), Rules{}, []string{"field-missing body /b.txt", "field-extra body /c.txt"}},
		{"another order", zipped("a", "1", "b", "2", "c", "3"), zipped("b", "2", "a", "1", "c", "3"), Rules{}, []string{"order body"}},
		{"another order, and one less", zipped("a", "1", "b", "2", "c", "3"), zipped("b", "2", "a", "1"), Rules{}, []string{"field-missing body /c", "order body"}},
		{"names that are made up", zipped("logs/"+ours+".txt", "1", "logs/"+stray+".txt", "2"), zipped("logs/"+theirs+".txt", "1", "logs/ses_12aa04e7a2c3b1.txt", "2"), Rules{}, nil},
		{"names that are made up, the other way round", zipped("logs/"+ours+".txt", "1", "logs/"+stray+".txt", "2"), zipped("logs/"+theirs+".txt", "2", "logs/ses_12aa04e7a2c3b1.txt", "1"), Rules{}, []string{"order body"}},
		{"names that are told of before, the other way round", zipped("a.json", `["`+ours+`","`+stray+`"]`, "logs/"+ours+".txt", "1", "logs/"+stray+".txt", "2"), zipped("a.json", `["`+theirs+`","ses_12aa04e7a2c3b1"]`, "logs/"+theirs+".txt", "2", "logs/ses_12aa04e7a2c3b1.txt", "1"), Rules{},
			[]string{"value body /logs~1" + ours + ".txt/0", "value body /logs~1" + stray + ".txt/0"}},
		{"an id in a text", zipped("a.json", `"`+ours+`"`, "b.txt", "of "+ours), zipped("a.json", `"`+theirs+`"`, "b.txt", "of "+theirs), Rules{}, nil},
		{"another thing's id in a text", zipped("a.json", `"`+ours+`"`, "b.txt", "of "+ours), zipped("a.json", `"`+theirs+`"`, "b.txt", "of "+stray), Rules{}, []string{"identity body /b.txt/0"}},
		{"times", zipped("system.txt", "Timestamp: 2026-11-20T23:00:01Z"), zipped("system.txt", "Timestamp: 2026-11-20T23:00:04Z"), Rules{}, nil},
		{"a time that is far", zipped("system.txt", "Timestamp: 2026-11-20T23:00:01Z"), zipped("system.txt", "Timestamp: 2025-11-20T23:00:04Z"), Rules{}, []string{"value body /system.txt/0"}},
		{"a rule for a line", zipped("system.txt", "a\nOS: linux"), zipped("system.txt", "a\nOS: Linux"), volatile(jsondiff.Volatile{At: "$['system.txt'][1]", Kind: jsondiff.Text}), nil},
		{"a rule for another line", zipped("system.txt", "a\nOS: linux"), zipped("system.txt", "a\nOS: Linux"), volatile(jsondiff.Volatile{At: "$['system.txt'][0]", Kind: jsondiff.Text}), []string{"value body /system.txt/1"}},
		{"a rule for another entry", zipped("system.txt", "a"), zipped("system.txt", "b"), volatile(jsondiff.Volatile{At: "$['system'][0]", Kind: jsondiff.Text}), []string{"value body /system.txt/0"}},
		{"a rule for a value of JSON", zipped(whole...), with("session.json", `{"id":"`+theirs+`","name":"B"}`), volatile(jsondiff.Volatile{At: "$['session.json'].name", Kind: jsondiff.Text}), nil},
		{"a rule for an id", zipped("a.json", `{"n":1}`, "b.jsonl", "1\n1"), zipped("a.json", `{"n":7}`, "b.jsonl", "7\n8"),
			volatile(jsondiff.Volatile{At: "$['a.json'].n", Kind: jsondiff.ID}, jsondiff.Volatile{At: "$['b.jsonl'][*]", Kind: jsondiff.ID}), []string{"identity body /b.jsonl/1"}},
		{"a rule for bytes", zipped(whole...), with("pixel.png", "\x89PNh"), volatile(jsondiff.Volatile{At: "$['pixel.png'].sha256", Kind: jsondiff.Text}), nil},
		{"a rule for bytes, of another number", zipped(whole...), with("pixel.png", "\x89PN"), volatile(jsondiff.Volatile{At: "$['pixel.png'].sha256", Kind: jsondiff.Text}), []string{"value body /pixel.png/size"}},
	} {
		tc.rules.Headers = []string{"Content-Type", "Content-Length"}
		ref, cand := sends(tc.ref), sends(tc.cand)
		var got []string
		for _, d := range Transcripts(nil, ref, cand, &tc.rules).Differences {
			got = append(got, string(d.Kind)+" "+d.At.String())
			if d.Fingerprint == "" || d.Exchange != 0 {
				t.Errorf("%s: fingerprint %q, exchange %d", tc.name, d.Fingerprint, d.Exchange)
			}
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
		for _, side := range []*transcript.Transcript{ref, cand} {
			if f := AllUnmet(nil, side, &tc.rules); len(f) > 0 {
				t.Errorf("%s: shortfalls %+v", tc.name, f)
			}
		}
	}
}

func TestAnArchiveThatCannotBeReadIsAShortfall(t *testing.T) {
	good := zipped("a.txt", "1")
	broken := func(change func(*transcript.Exchange)) *transcript.Transcript {
		out := sends([]byte("PK no"))
		change(out.Steps[0].Exchanges[0])
		return out
	}
	for _, tc := range []struct {
		name string
		t    *transcript.Transcript
		want string
	}{
		{"a good one", sends(good), ""},
		{"none", sends(nil), "it is no ZIP archive: zip: not a valid zip file"},
		{"half of one", sends(good[:20]), "it is no ZIP archive: zip: not a valid zip file"},
		{"one with a name twice", sends(zipped("a", "1", "a", "2")), `it has the entry "a" twice`},
		{"one that grows", sends(zipped("a", strings.Repeat("x", 17<<20))), `it has an entry "a" of more than 16777216 bytes, and no more are looked at`},
		{"no success", broken(func(x *transcript.Exchange) { x.Response.Status = 500 }), ""},
		{"of another type", broken(func(x *transcript.Exchange) { x.Response.Header[0].Value = "text/plain" }), ""},
		{"an answer to HEAD", broken(func(x *transcript.Exchange) { x.Request.Method = "HEAD" }), ""},
		{"one that was not kept whole", broken(func(x *transcript.Exchange) { x.Response.Body.Size++ }), ""},
		{"one that was cut, which is told already", broken(func(x *transcript.Exchange) {
			x.Failure = &transcript.Failure{Phase: transcript.PhaseBody, Text: "cut", Kind: transcript.FailReset}
		}), ""},
	} {
		var got string
		for _, f := range AllUnmet(nil, tc.t, &Rules{}) {
			if f.Kind == ArchiveBroken {
				got += f.Got
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		for _, other := range []*transcript.Transcript{sends(good), tc.t} { // a mistake of one side is no difference
			if found := Transcripts(nil, other, tc.t, &Rules{}).Differences; tc.want != "" && len(found) > 0 {
				t.Errorf("%s: %+v", tc.name, found)
			}
		}
	}
}

// Archives with the same contents are equal, however they were made. A different byte is a difference.
func TestAChangeInAnEntryIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const letters = "abc \n{}\"1,"
	text := func() string {
		out := make([]byte, 1+random.IntN(12))
		for i := range out {
			out[i] = letters[random.IntN(len(letters))]
		}
		return string(out)
	}
	for range 500 {
		var entries []string
		for i := range 1 + random.IntN(3) {
			entries = append(entries, fmt.Sprintf("%d.%s", i, []string{"json", "jsonl", "txt"}[random.IntN(3)]), text())
		}
		other := zippedBy(&zip.FileHeader{Method: zip.Store, Modified: zippedAt}, entries...)
		if found := Transcripts(nil, sends(zipped(entries...)), sends(other), &Rules{}).Differences; len(found) > 0 {
			t.Fatalf("%q: %+v", entries, found)
		}
		changed := append([]string{}, entries...)
		changed[1+2*random.IntN(len(entries)/2)] += "z"
		if found := Transcripts(nil, sends(zipped(entries...)), sends(zipped(changed...)), &Rules{}).Differences; len(found) == 0 {
			t.Fatalf("%q and %q: nothing is found", entries, changed)
		}
	}
}
