package compare

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/reveal"
)

func TestTokens(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$..token", Kind: jsondiff.Token}}}
	token := func(values ...string) []string {
		var out []string
		for _, v := range values {
			out = append(out, `{"token":"`+v+`"}`)
		}
		return out
	}
	const (
		ref  = "sk_live_Zm9vYmFyCg0123456789"
		cand = "sk_live_0a1B2c3D4e5F6g7H8i9J"
	)
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
	}{
		{"made alike", token(ref, ref), token(cand, cand), nil},
		{"a little longer", token(ref), token(cand + "abc"), nil},
		{"parts joined by points", token("aaaaaa.bbbbbb.cccccc"), token("dddddd.eeeeee.ffffff"), nil},
		{"Base64 without its signs", token("Zm9vYmFyCg0123456789"), token("Zm9v+mFyCg01/3456789"), nil},
		{"a number", []string{`{"token":123456}`}, []string{`{"token":654321}`}, nil},
		{"another token", token(ref, ref), token(cand, cand[:27]+"K"), []string{"identity: the reference's ‹token of 28 characters› was paired with the candidate's ‹token of 28 characters› at step 1 body /token"}},
		{"one token for two", token(ref, ref[:27]+"A"), token(cand, cand), []string{"identity: the candidate's ‹token of 28 characters› was paired with the reference's ‹token of 28 characters› at step 1 body /token"}},
		{"much shorter", token(ref), token(cand[:20]), []string{"id-form: the tokens have different lengths: 28 characters, and 20"}},
		{"empty", token(ref), token(""), []string{"id-form: the tokens have different lengths: 28 characters, and 0"}},
		{"another prefix", token(ref), token("pk_" + cand[3:]), []string{`id-form: the tokens have different prefixes: "sk_live_" and "pk_live_"`}},
		{"a part less", token("aaaaaa.bbbbbb.cccccc"), token("dddddd.eeeeeeefffffff"), []string{"id-form: the tokens have different numbers of parts between dots: 3 and 2"}},
		{"a sentence", token("aaaaaabbbbbbcccccc"), token("there is no token!"), []string{"id-form: the tokens use different characters: the candidate's has white space, the reference's does not"}},
		{"another Base64", token("Zm9v-mFy_g0123456789"), token("Zm9v+mFyCg01/3456789"), []string{"id-form: the tokens use different characters: the candidate's has +, / or =, the reference's does not"}},
		{"another alphabet", token("0123456789abcdef0123456789abcdef"), token("zyxwvutsrqponmlkzyxwvutsrqponmlk"), []string{"id-form: the tokens use different characters: lower-case hexadecimal digits, and lower-case letters and digits"}},
		{"another type", token("123456"), []string{`{"token":123456}`}, []string{"type: the types differ: string and number"}},
		{"none", token(ref), []string{`{}`}, []string{"field-missing: the candidate lacks the field"}},
		{"inside a longer text", append(token(ref), `"Bearer `+ref+`"`), append(token(cand), `"Bearer `+cand+`"`), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := compared(newSide("ref").answers(tc.ref...), newSide("cand").answers(tc.cand...), rules)
			if diff := cmp.Diff(tc.want, texts(got)); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}

// A token is never shown: not in its place, not in the object around it, not in a text that repeats it, and not in an
// event that the other side does not send.
func TestATokenIsNeverShown(t *testing.T) {
	const ref, cand = `s3cr3t"ref0123456789`, `s3cr3t"cand987654321`
	rules := &Rules{Headers: []string{"Authorization"}, Volatile: []jsondiff.Volatile{{At: "$..token", Kind: jsondiff.Token}}}
	s := func(target, token string) side {
		quoted := strings.ReplaceAll(token, `"`, `\"`)
		return newSide(target).answers(`{"token":"`+quoted+`"}`, `{"`+target+`":{"token":"`+quoted+`"}}`, `"`+target+` got `+quoted+`"`).
			exchange(200, transcript.Header{{Name: "Authorization", Value: target + " " + token}}, "no JSON: "+target+" "+token).
			stream("bus", target+` {"token":"`+quoted+`"}`)
	}
	r, c := s("ref", ref), s("cand", cand)
	got := compared(r, c, rules).Differences
	if len(got) < 6 {
		t.Errorf("%d differences, want one in each place", len(got))
	}
	for _, d := range got {
		for _, text := range []string{d.At.String(), d.Ref.String(), d.Cand.String(), d.Text()} {
			if strings.Contains(text, "0123456789") || strings.Contains(text, "987654321") {
				t.Errorf("%s at %s shows a token: %s", d.Kind, d.At.String(), text)
			}
		}
	}
	if got := NewMasker(rules, r.t).Mask("token=" + ref); got != "token=‹token of 20 characters›" {
		t.Errorf("under the veil: %s", got)
	}
	if NewMasker(&Rules{}, r.t).Mask(ref) != ref {
		t.Error("without a rule something is hidden")
	}
}

// Two tokens of the same format must never be reported as different, whatever their characters.
func FuzzTokensOfTheSameForm(f *testing.F) {
	f.Add("abc", "def")
	f.Add("a_b-c.d", "a.b.c")
	f.Fuzz(func(t *testing.T, ref, cand string) {
		b := ident.New(&transcript.Transcript{}, &transcript.Transcript{})
		if why := b.Formats.TokenDiff("$", ref, ref); !why.None() {
			t.Errorf("%q and itself: %s", ref, why)
		}
		b.Formats.TokenDiff("$", ref, cand)
	})
}

// Rules of stubs and of MCP servers hide tokens like all other rules. Tokens in another encoding are hidden, too.
func TestATokenForAnUpstreamIsNeverShown(t *testing.T) {
	token := []jsondiff.Volatile{{At: "$..token", Kind: jsondiff.Token}}
	for _, tc := range []struct {
		name  string
		rules *Rules
		asked func(body string) *transcript.Transcript
	}{
		{"a stub", &Rules{Stubs: map[string]Step{"llm": {Volatile: token}}}, func(body string) *transcript.Transcript { return asking("x", asks(body)) }},
		{"a method of MCP", &Rules{MCP: map[string][]jsondiff.Volatile{"tools/call": token}}, func(body string) *transcript.Transcript { return sent("tester", "tools/call", body) }},
		{"a method of an MCP server", &Rules{MCP: map[string][]jsondiff.Volatile{"tester tools/call": token}}, func(body string) *transcript.Transcript { return sent("tester", "tools/call", body) }},
	} {
		body := func(token string) string {
			return `{"token":"` + token + `","a":{"token":"` + token + `"},"note":"` + token + `","packed":"` + base64.StdEncoding.EncodeToString([]byte("u:"+token)) + `"}`
		}
		ref, cand := tc.asked(body("s3cr3t-0123456789")), tc.asked(strings.Replace(body("s3cr3t-987654321x"), `"a"`, `"b"`, 1))
		got := Transcripts(nil, ref, cand, tc.rules).Differences
		if len(got) == 0 {
			t.Errorf("%s: no differences", tc.name)
		}
		veil := NewMasker(tc.rules, ref, cand)
		shown := veil.Mask(body("s3cr3t-0123456789"))
		for _, d := range got {
			shown += d.At.String() + d.Ref.String() + d.Cand.String() + d.Text()
		}
		for _, token := range []string{"s3cr3t-0123456789", "s3cr3t-987654321x"} {
			if how := reveal.Find(shown, token); how != "" {
				t.Errorf("%s: a token is shown, %s: %s", tc.name, how, shown)
			}
		}
	}
}
