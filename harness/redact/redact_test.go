package redact

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/reveal"
)

func TestAnAliasHasTheFormOfTheSecret(t *testing.T) {
	for _, secret := range []string{"hunter2-Hunter2", "sk-live_0123456789abcDEF", "0f8e77a0-1b2c-4d3e-8f90-a1b2c3d4e5f6", "pässwörd/1", strings.Repeat("aA0", 100)} {
		got := alias(secret)
		if got == secret || got != alias(secret) {
			t.Errorf("alias of %q: %q", secret, got)
		}
		shape := func(s string) string {
			s = regexp.MustCompile(`[a-z]`).ReplaceAllString(s, "a")
			s = regexp.MustCompile(`[A-Z]`).ReplaceAllString(s, "A")
			s = regexp.MustCompile(`[^\x00-\x7f]`).ReplaceAllString(s, "ä")
			return regexp.MustCompile(`[0-9]`).ReplaceAllString(s, "0")
		}
		if shape(got) != shape(secret) {
			t.Errorf("alias of %q is made differently: %q", secret, got)
		}
	}
	if got := alias("密码密码"); strings.ContainsAny(got, "密码") || len(got) != 12 {
		t.Errorf("what is not ASCII becomes %q", got)
	}
	if got := alias("!$#?a!$#?"); strings.ContainsAny(got, "!$#?") || len(got) != 9 {
		t.Errorf("a secret of symbols becomes %q", got)
	}
	if alias("secret-one") == alias("secret-two") {
		t.Error("two secrets have one alias")
	}
	if got := alias("0f8e77a0deadbeef"); strings.Trim(got, "0123456789abcdef") != "" {
		t.Errorf("hexadecimal digits become %q", got)
	}
}

func TestSecretsAreInNoTextOfATranscript(t *testing.T) {
	const value, token, cookie, own, member, split = "hunter2/hunter2", "tok-5e884898da28", "sid-c0ffee12", "key-0123456789", "pw-correct-horse", "line one\nline two"
	body := func(s string) transcript.Body { return transcript.Body{Bytes: []byte(s), Size: int64(len(s))} }
	quoted, _ := json.Marshal(split)
	all := strings.Join([]string{value, url.QueryEscape(value), url.PathEscape(value), strings.ReplaceAll(value, "/", `\/`), base64.StdEncoding.EncodeToString([]byte(value)), token, cookie, own, member}, " ")
	status := value
	make := func() *transcript.Transcript {
		return &transcript.Transcript{
			Target: "go", Unique: "c-1", Log: []string{all}, Aborted: all, Unusable: all, Exit: &transcript.Exit{Log: []string{all}, UnderWay: []string{all}},
			Steps: []transcript.Step{{
				ID: "1", Unmet: &transcript.Unmet{What: all, Why: all}, Fault: all,
				Expect: &transcript.Expect{Header: map[string]*string{"X": &status}, JSON: &transcript.JSONPattern{Whole: json.RawMessage(`"` + member + `"`), At: map[string]json.RawMessage{"$.a": json.RawMessage(`"` + value + `"`)}}},
				Exchanges: []*transcript.Exchange{{
					Request: transcript.Request{Method: "GET", Target: "/?k=" + url.QueryEscape(value), Header: transcript.Header{
						{Name: "authorization", Value: "Bearer " + token}, {Name: "Cookie", Value: "a=1; sid=" + cookie}, {Name: "X-Own", Value: own},
					}, Body: body(`{"user": {"password": "` + member + `"}, "text": ` + string(quoted) + `}`)},
					Response: &transcript.Response{Status: 200, Header: transcript.Header{{Name: "Set-Cookie", Value: "sid=" + cookie + "; Path=/; HttpOnly"}, {Name: "Location", Value: "/" + url.PathEscape(value)}}, Body: body(all)},
					Failure:  &transcript.Failure{Text: all},
				}},
			}},
			Streams: []*transcript.Stream{{Name: "bus", Events: []transcript.Event{{Name: "x", Data: all, ID: value}}, Failure: &transcript.Failure{Text: all}}},
		}
	}
	a, b := make(), make()
	Transcripts([]*transcript.Transcript{a, b}, &Rules{Values: []string{value, split, "no"}, Headers: []string{"x-own"}, At: []string{"$..password"}})
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if status != value {
		t.Error("what the scenario has is changed, too")
	}
	x := a.Steps[0].Exchanges[0]
	shown := string(text) + string(x.Request.Body.Bytes) + string(x.Response.Body.Bytes)
	for _, secret := range []string{"hunter2", token, cookie, own, member, "line one", base64.StdEncoding.EncodeToString([]byte(value))} {
		if i := strings.Index(shown, secret); i >= 0 {
			t.Errorf("%q is still there: …%s", secret, shown[max(0, i-60):i+len(secret)])
		}
	}
	for _, kept := range []string{"Bearer ", "Path=/; HttpOnly", `"c-1"`, "a=1; sid="} {
		if !strings.Contains(shown, kept) {
			t.Errorf("%q is gone", kept)
		}
	}
	if !json.Valid(x.Request.Body.Bytes) || len(x.Request.Body.Bytes) != int(x.Request.Body.Size) {
		t.Errorf("the body is %s", x.Request.Body.Bytes)
	}
	other, _ := json.Marshal(b)
	if string(other) != string(text) {
		t.Error("what was equal is not equal any more")
	}
}

// Two targets have different values of ${{ unique }}. Secrets that contain it differ in nothing else.
func TestAPublicValueInsideASecretIsKept(t *testing.T) {
	same := func(s string) string { return s }
	unpacked := func(s string) string {
		out, _ := base64.StdEncoding.DecodeString(s)
		return string(out)
	}
	claims := func(s string) string {
		out, _ := base64.RawURLEncoding.DecodeString(strings.Split(s, ".")[1])
		return string(out)
	}
	for name, tc := range map[string]struct {
		secret func(unique string) string
		read   func(secret string) string
	}{
		"at the end":     {func(u string) string { return "hunter2-" + u }, same},
		"at the start":   {func(u string) string { return u + "_hunter2_1" }, same},
		"twice":          {func(u string) string { return u + "hunter2-" + u + "-key" }, same},
		"beside symbols": {func(u string) string { return "#1!$" + u }, same},
		"behind a name":  {func(u string) string { return "sk_" + u }, same},
		"with escapes":   {func(u string) string { return "hunter2%2F" + u }, same},
		"in Base64":      {func(u string) string { return base64.StdEncoding.EncodeToString([]byte("ann-" + u + ":hunter2")) }, unpacked},
		"in a JWT": {func(u string) string {
			encode := base64.RawURLEncoding.EncodeToString
			return encode([]byte(`{"alg":"HS256"}`)) + "." + encode([]byte(`{"sub":"hunter2-`+u+`"}`)) + ".c2lnbmF0dXJl"
		}, claims},
	} {
		read := map[string]bool{}
		for _, unique := range []string{"u7f3kqpwmcxd", "uabcdefghijk"} {
			secret := tc.secret(unique)
			target := &transcript.Transcript{Unique: unique, Streams: []*transcript.Stream{{Events: []transcript.Event{{Data: `{"key":"` + secret + `"}`}}}}}
			ts := []*transcript.Transcript{target, {Unique: "uzzzzzzzzzzz"}}
			Transcripts(ts, &Rules{At: []string{"$.key"}})
			var event struct{ Key string }
			if err := json.Unmarshal([]byte(target.Streams[0].Events[0].Data), &event); err != nil {
				t.Fatal(err)
			}
			for _, hidden := range []string{secret, "hunter2", "#1!$"} {
				if how := reveal.Find(event.Key, hidden); how != "" {
					t.Errorf("%s: %s shows %s: %s", name, event.Key, hidden, how)
				}
			}
			read[strings.ReplaceAll(tc.read(event.Key), unique, "‹unique›")] = true
			if target.Unique != unique {
				t.Errorf("%s: ${{ unique }} becomes %s", name, target.Unique)
			}
		}
		for text := range read {
			if len(read) > 1 || !strings.Contains(text, "‹unique›") {
				t.Errorf("%s: the secrets of two targets become %q", name, text)
			}
		}
	}
}

func TestSecretsAreInNoEntryOfAnArchive(t *testing.T) {
	const secret = "hunter2-hunter2"
	for _, method := range []uint16{zip.Deflate, zip.Store} {
		var file bytes.Buffer
		w := zip.NewWriter(&file)
		to, _ := w.CreateHeader(&zip.FileHeader{Name: "config.yaml", Method: method})
		fmt.Fprintf(to, "key: %s\nother: kept\n", secret)
		to, _ = w.CreateHeader(&zip.FileHeader{Name: "session.json", Method: method})
		fmt.Fprint(to, `{"password":"correct-horse"}`)
		w.Close()
		answer := &transcript.Response{Status: 200, Body: transcript.Body{Bytes: bytes.Clone(file.Bytes()), Size: int64(file.Len())}, Header: transcript.Header{
			{Name: "Content-Type", Value: "application/zip"}, {Name: "Content-Length", Value: strconv.Itoa(file.Len())}, {Name: "X-Key", Value: secret},
		}}
		given := &transcript.Transcript{Steps: []transcript.Step{{Exchanges: []*transcript.Exchange{{Response: answer}}}}}
		ts := []*transcript.Transcript{given}
		Transcripts(ts, &Rules{Values: []string{secret}, At: []string{"$['session.json'].password"}})
		got := ts[0].Steps[0].Exchanges[0].Response
		doc, err := archive.Read(got.Body.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`{"config.yaml":["key: %s","other: kept",""],"session.json":{"password":"%s"}}`, alias(secret), alias("correct-horse"))
		if string(doc.JSON) != want {
			t.Errorf("%s, want %s", doc.JSON, want)
		}
		length, _ := got.Header.Get("Content-Length")
		if key, _ := got.Header.Get("X-Key"); key != alias(secret) || length != strconv.FormatInt(got.Body.Size, 10) || int(got.Body.Size) != len(got.Body.Bytes) {
			t.Errorf("header %v, and %d bytes", got.Header, len(got.Body.Bytes))
		}
		if !bytes.Equal(answer.Body.Bytes, file.Bytes()) || answer.Header[2].Value != secret {
			t.Error("what was handed in is changed, too")
		}
	}
}

func TestWithoutSecretsNothingIsTouched(t *testing.T) {
	x := &transcript.Exchange{Request: transcript.Request{Method: "GET", Target: "/a", Header: transcript.Header{{Name: "Accept", Value: "application/json"}}}}
	ts := []*transcript.Transcript{{Steps: []transcript.Step{{Exchanges: []*transcript.Exchange{x}}}}}
	before, _ := json.Marshal(ts)
	Transcripts(ts, &Rules{})
	if after, _ := json.Marshal(ts); string(after) != string(before) {
		t.Errorf("%s became %s", before, after)
	}
	if NewReplacer([]string{"", "short"}) != nil {
		t.Error("what is found by chance is replaced")
	}
}

func TestWriter(t *testing.T) {
	var b strings.Builder
	w := NewReplacer([]string{"hunter2hunter2"}).Writer(&b)
	if n, err := w.Write([]byte("key hunter2hunter2\n")); n != 19 || err != nil {
		t.Errorf("Write: %d, %v", n, err)
	}
	if b.String() != "key "+alias("hunter2hunter2")+"\n" {
		t.Errorf("written: %q", b.String())
	}
	var none *Replacer
	if none.Writer(&b) != &b || none.Text("x") != "x" {
		t.Error("without secrets, something is replaced")
	}
}

func TestThePasswordOfBasicIsASecret(t *testing.T) {
	answer := &transcript.Response{Body: transcript.Body{Bytes: []byte("no user ann with hunter2hunter2"), Size: 31}}
	ts := []*transcript.Transcript{{Steps: []transcript.Step{{Exchanges: []*transcript.Exchange{{
		Request: transcript.Request{Header: transcript.Header{{Name: "Authorization", Value: "basic " + base64.StdEncoding.EncodeToString([]byte("ann:hunter2hunter2"))}}}, Response: answer,
	}}}}}}
	Transcripts(ts, &Rules{})
	if got := string(ts[0].Steps[0].Exchanges[0].Response.Body.Bytes); got != "no user ann with "+alias("hunter2hunter2") {
		t.Errorf("the body is %q", got)
	}
}

// Logs are split into lines, so a key of several lines may be logged line by line.
func TestLinesOfASecretAreSecrets(t *testing.T) {
	r := NewReplacer([]string{"-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n"})
	for _, line := range []string{"MIIEvQIBADANBg", "kqhkiG9w0BAQEF"} {
		if got := r.Text("key: " + line); strings.Contains(got, line) {
			t.Errorf("%q is not covered", got)
		}
	}
}

// Texts that differ only in their notation still differ after redaction.
func TestANotationIsKept(t *testing.T) {
	r := NewReplacer([]string{"p/ss+word1"})
	seen := map[string]bool{}
	for _, text := range []string{`p\/ss+word1`, `p%2fss%2bword1`, `p%2Fss%2Bword1`, `p\u002fss\u002Bword1`, `p/ss+word1`, `%70/ss+word1`} {
		got := r.Text(text)
		if seen[got] || len(got) != len(text) || got == text {
			t.Errorf("%q became %q", text, got)
		}
		seen[got] = true
	}
	if got := r.Text(`p%2fss\u002bword1`); !strings.Contains(got, "%2f") || !strings.Contains(got, `\u002b`) {
		t.Errorf("the notation is gone: %q", got)
	}
}
