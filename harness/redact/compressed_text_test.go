package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestCompressedBytesAreInNoText(t *testing.T) {
	const secret = "hunter2-hunter2"
	r := NewReplacer([]string{secret})
	for name, pack := range map[string]func(string) string{
		"Base64":      func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"Base64 URLs": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"hexadecimal": func(s string) string { return hex.EncodeToString([]byte(s)) },
		"in itself": func(s string) string {
			return base64.StdEncoding.EncodeToString([]byte(`{"file":"` + hex.EncodeToString([]byte(s)) + `"}`))
		},
		"in JSON": func(s string) string {
			return strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(s)), "/", `\/`)
		},
	} {
		for kind, file := range map[string]func(string) string{
			"gzip": gzipped, "zip": func(s string) string { return zipped("a", s) }, "gzip that was cut": func(s string) string { return gzipped(s)[:30] },
		} {
			text := func(content string) string { return `{"n": 1, "file": "` + pack(file(content)) + `", "m": 2}` }
			got := r.Text(text(secret))
			if got == text(secret) || got != r.Text(text(secret)) || len(got) != len(text(secret)) || !strings.HasSuffix(got, `"m": 2}`) {
				t.Errorf("%s in %s: %s", kind, name, got)
			}
			if clean := text("nothing to hide"); !strings.Contains(kind, "cut") && r.Text(clean) != clean {
				t.Errorf("%s in %s without a secret: %s", kind, name, r.Text(clean))
			}
		}
	}
}

func TestCompressedBytesAreInNoEventAndNoFailure(t *testing.T) {
	const secret = "hunter2-hunter2"
	file, coded := gzipped(secret), "\x1f\x9d\x90h\xea\xb8"
	given := &transcript.Transcript{
		Steps: []transcript.Step{{Exchanges: []*transcript.Exchange{
			{Failure: &transcript.Failure{Text: "20 bytes follow the response: " + strconv.Quote("ab"+file)}},
			{Stream: "bus", Response: &transcript.Response{Header: transcript.Header{{Name: "Content-Encoding", Value: "compress"}}}},
		}}},
		Streams: []*transcript.Stream{
			{Name: "plain", Events: []transcript.Event{{Data: file, Framing: "data: •\n\n"}, {Data: gzipped("nothing")}}},
			{Name: "bus", Events: []transcript.Event{{Framing: coded + "\n\n"}, {Data: "a", Framing: "data: •\n\n"}}},
		},
	}
	before := given.Streams[1]
	Transcripts([]*transcript.Transcript{given}, &Rules{Values: []string{secret}})
	for what, got := range map[string]string{
		"failure": given.Steps[0].Exchanges[0].Failure.Text, "event": given.Streams[0].Events[0].Data, "framing": given.Streams[1].Events[0].Framing,
	} {
		if !strings.Contains(got, "bytes withheld") || strings.Contains(got, `\x8b`) || strings.Contains(got, file) || strings.Contains(got, coded) {
			t.Errorf("the %s is %q", what, got)
		}
	}
	if given.Streams[0].Events[1].Data != gzipped("nothing") || given.Streams[1].Events[1] != before.Events[1] {
		t.Errorf("what hides nothing is withheld: %+v", given.Streams)
	}
	if before.Events[0].Framing != coded+"\n\n" {
		t.Error("the events that came are changed")
	}
}
