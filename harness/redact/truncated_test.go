package redact

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// The beginning of a secret at the place where a text was cut reveals the secret.
func TestNoPartOfASecretIsLeftInATruncatedText(t *testing.T) {
	const secret = `hunter2-Hu"nter/2x`
	r := NewReplacer([]string{secret})
	for name, notation := range map[string]func(string) string{
		"as it is":    func(s string) string { return s },
		"in Go":       func(s string) string { return strings.Trim(strconv.Quote(s), `"`) },
		"in a URL":    url.QueryEscape,
		"all escaped": func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "2", "%32") },
		"in Base64":   func(s string) string { return base64.StdEncoding.EncodeToString([]byte("some text before: " + s)) },
		"in JSON":     func(s string) string { return strings.ReplaceAll(s, "/", `\u002f`) },
	} {
		whole := notation(secret)
		for n := len(notation(secret[:6])); n < len(whole); n++ {
			part := "HTTP/1.1 2000 " + whole[:n]
			x := &transcript.Exchange{Failure: &transcript.Failure{Text: `malformed status line "` + part + `"…`}}
			x.Response = &transcript.Response{Body: transcript.Body{Bytes: []byte(part), Size: int64(len(part)) + 1}}
			broken := &transcript.Exchange{Failure: &transcript.Failure{Text: `the connection was closed in the head, after "` + part + `"`}}
			broken.Response = &transcript.Response{Body: transcript.Body{Bytes: []byte(part), Size: int64(len(part))}}
			given := &transcript.Transcript{
				Steps: []transcript.Step{{Exchanges: []*transcript.Exchange{x, broken}, Unmet: &transcript.Unmet{Why: part + "… (812 bytes)"}}},
				Log:   []string{"stderr: " + part + "…"},
			}
			before := x.Response.Body
			Transcripts([]*transcript.Transcript{given}, &Rules{Values: []string{secret}})
			step := given.Steps[0]
			for what, text := range map[string]string{
				"failure": step.Exchanges[0].Failure.Text, "body": string(step.Exchanges[0].Response.Body.Bytes),
				"broken failure": step.Exchanges[1].Failure.Text, "broken body": string(step.Exchanges[1].Response.Body.Bytes),
				"demand": step.Unmet.Why, "log": given.Log[0],
			} {
				if left := whole[:len(notation(secret[:6]))]; strings.Contains(text, left) {
					t.Errorf("%s, %d bytes: the %s is %s", name, n, what, text)
				}
			}
			if !bytes.Equal(before.Bytes, []byte(part)) {
				t.Fatal("the body that came is changed")
			}
		}
	}
	if got := r.Text(`a lesson in hunt and "hun"…`); got != `a lesson in hunt and "hun"…` {
		t.Errorf("a text that was not cut there, and one of three bytes: %s", got)
	}
	if a, b := r.Text(`see "hunter2-H"…`), r.Text(`see "hunter2-H"…`); a != b || len(a) != len(`see "hunter2-H"…`) {
		t.Errorf("one text becomes %s and %s", a, b)
	}
}
