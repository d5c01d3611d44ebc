package compare

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func jsonText(s string) string {
	out, _ := json.Marshal(s)
	return string(out)
}

func jwt(claims string) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + part([]byte(claims)) + ".c2lnbmF0dXJlc2lnbmF0dXJl"
}

const (
	uuidA = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	uuidB = "1a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	uuidX = "ffeeddcc-bbaa-4998-8776-655443322110"
	uuidY = "efeeddcc-bbaa-4998-8776-655443322110"
)

// encodings write a document as a text.
var encodings = []struct {
	name, mark string
	of         func(document string) string
}{
	{"JSON", " ⟨JSON⟩", func(s string) string { return s }},
	{"Base64", " ⟨Base64⟩ ⟨JSON⟩", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
	{"Base64 without padding", " ⟨Base64⟩ ⟨JSON⟩", func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) }},
	{"Base64 for URLs", " ⟨Base64⟩ ⟨JSON⟩", func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) }},
	{"Base64 for URLs without padding", " ⟨Base64⟩ ⟨JSON⟩", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }},
	{"a JWT", " ⟨JWT claims⟩", jwt},
	{"JSON in JSON", " ⟨JSON⟩ /in ⟨JSON⟩", func(s string) string { return `{"in":` + jsonText(s) + `}` }},
}

func TestIDsInEncodedTexts(t *testing.T) {
	for _, e := range encodings {
		t.Run(e.name, func(t *testing.T) {
			held := func(a, b, text string) string { return fmt.Sprintf(`{"id":%q,"other":%q,"say":%q}`, a, b, text) }
			answer := func(document string) string { return `{"of":` + jsonText(e.of(document)) + `}` }
			ref := []string{`"` + uuidA + `"`, answer(held(uuidA, uuidB, "hello")), `"` + uuidB + `"`}
			for _, tc := range []struct {
				name string
				cand []string
				want []string
			}{
				{"others that are the same everywhere", []string{`"` + uuidX + `"`, answer(held(uuidX, uuidY, "hello")), `"` + uuidY + `"`}, nil},
				{"another one in the text", []string{`"` + uuidX + `"`, answer(held(uuidY, uuidY, "hello")), `"` + uuidY + `"`}, []string{"identity body /of" + e.mark + " /id"}},
				{"one that was bound in the text", []string{`"` + uuidX + `"`, answer(held(uuidX, uuidY, "hello")), `"` + uuidX + `"`}, []string{"identity body"}},
				{"what is no id", []string{`"` + uuidX + `"`, answer(held(uuidX, uuidY, "good day")), `"` + uuidY + `"`}, []string{"value body /of" + e.mark + " /say"}},
				{"a member less", []string{`"` + uuidX + `"`, answer(`{"id":"` + uuidX + `","other":"` + uuidY + `"}`), `"` + uuidY + `"`}, []string{"field-missing body /of" + e.mark + " /say"}},
			} {
				if diff := cmp.Diff(tc.want, kinds(compared(newSide("ref").answers(ref...), newSide("cand").answers(tc.cand...), nil))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.name, diff)
				}
			}
			mirrored := compared(newSide("ref").answers(`"`+uuidX+`"`, answer(held(uuidY, uuidY, "hello"))), newSide("cand").answers(`"`+uuidA+`"`, answer(held(uuidA, uuidB, "hello"))), nil)
			if diff := cmp.Diff([]string{"identity body /of" + e.mark + " /id"}, kinds(mirrored)); diff != "" {
				t.Errorf("with the sides swapped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextsThatHoldTheSame(t *testing.T) {
	doc := `{"id":"` + uuidA + `","n":1,"list":[1,2]}`
	other := strings.ReplaceAll(doc, uuidA, uuidX)
	spaced, turned := strings.ReplaceAll(other, ",", ", "), `{"n":1,"id":"`+uuidX+`","list":[1,2]}`
	encode := base64.StdEncoding.EncodeToString
	const written = "the texts hold the same JSON, but written differently"
	for _, tc := range []struct {
		name, ref, cand string
		want            []string // each is "place: text"
		byRule          []string // with a rule that declares the text as JSON
	}{
		{"up to renaming", doc, other, nil, nil},
		{"with other white space", doc, spaced, []string{"body /a: " + written}, nil},
		{"in another order", doc, turned, []string{"body /a: " + written}, nil},
		{"with a number in another way", strings.Replace(doc, "1,", "1e0,", 1), strings.Replace(other, "1,", "1.0,", 1), []string{"body /a: " + written}, nil},
		{"and something else", doc, strings.Replace(spaced, "2]", "3]", 1), []string{"body /a ⟨JSON⟩ /list/1: the numbers differ"}, []string{"body /a ⟨JSON⟩ /list/1: the numbers differ"}},
		{"JSON on one side", doc, other[1:], []string{"body /a: the texts differ"}, []string{"body /a: a rule requires JSON, but the candidate's text is not valid JSON: text follows the value: \":\\\"ffeeddcc-bbaa-4998-8776-655443322110\\\",\"…"}},
		{"with and without padding", encode([]byte("hello, dear world")), strings.TrimRight(encode([]byte("hello, dear world")), "="), []string{"body /a: the texts have the same content, but are encoded differently"}, nil},
		{"in another alphabet", base64.StdEncoding.EncodeToString([]byte("héé? hello ~~~ÿþ world")), base64.URLEncoding.EncodeToString([]byte("héé? hello ~~~ÿþ world")), []string{"body /a: the texts have the same content, but are encoded differently"}, nil},
		{"Base64 of words", encode([]byte("hello, dear world")), encode([]byte("hello, good world")), []string{"body /a ⟨Base64⟩: the texts differ"}, nil},
		{"Base64 of no text", encode([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b")), encode([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0c")), []string{"body /a: the texts differ"}, nil},
		{"too short for Base64", encode([]byte("hello you")), encode([]byte("hello thee"))[:12], []string{"body /a: the texts differ"}, nil},
		{"a JWT with another signature", jwt(`{"sub":1}`), jwt(`{"sub":1}`) + "AA", []string{"body /a: the signatures are of different lengths"}, nil},
		{"a JWT for later", jwt(`{"exp":1772500000}`), jwt(`{"exp":1772500020}`), nil, nil},
		{"a JWT for a day more", jwt(`{"exp":1772500000}`), jwt(`{"exp":1772586400}`), []string{"body /a ⟨JWT claims⟩ /exp: the times differ: the reference's is 37h7m0s after it was seen, the candidate's is 3 days after it was seen"}, nil},
		{"JSON with a defect", `{"a":1,"a":2}`, `{"a":1,"a":3}`, []string{"body /a: the texts differ"}, []string{"body /a ⟨JSON⟩ /a: the numbers differ"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sayings := func(rules *Rules) []string {
				var out []string
				for _, d := range compared(newSide("ref").answers(`{"a":`+jsonText(tc.ref)+`}`), newSide("cand").answers(`{"a":`+jsonText(tc.cand)+`}`), rules).Differences {
					out = append(out, d.At.String()+": "+d.Text())
				}
				return out
			}
			if diff := cmp.Diff(tc.want, sayings(nil)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(tc.ref, "{") && !strings.HasPrefix(tc.ref, "[") {
				return
			}
			if diff := cmp.Diff(tc.byRule, sayings(&Rules{Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.JSON}}})); diff != "" {
				t.Errorf("differences by rule (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncodedTextsOutsideOfDocuments(t *testing.T) {
	cursor := func(id, say string) string {
		return base64.StdEncoding.EncodeToString([]byte(`{"id":"` + id + `","say":"` + say + `"}`))
	}
	tell := func(target, id, of, say string) side {
		s := newSide(target).answers(`"` + id + `"`)
		s.exchange(200, transcript.Header{{Name: "Content-Type", Value: "text/plain"}, {Name: "Next", Value: cursor(of, say)}}, cursor(of, say))
		s.stream("bus", "e "+cursor(of, say))
		s.t.Streams[0].Events[0].ID = cursor(of, say)
		return s
	}
	ref := tell("ref", uuidA, uuidA, "on")
	rules := &Rules{Headers: []string{"Next"}}
	if got := kinds(compared(ref, tell("cand", uuidX, uuidX, "on"), rules)); got != nil {
		t.Errorf("the same up to renaming: %v", got)
	}
	want := []string{
		"identity header Next ⟨Base64⟩ ⟨JSON⟩ /id", "identity body ⟨Base64⟩ ⟨JSON⟩ /id",
		"identity event 1 (e) data ⟨Base64⟩ ⟨JSON⟩ /id", "identity event 1 (e) id ⟨Base64⟩ ⟨JSON⟩ /id",
	}
	if diff := cmp.Diff(want, kinds(compared(ref, tell("cand", uuidX, uuidY, "on"), rules))); diff != "" {
		t.Errorf("another id (-want +got):\n%s", diff)
	}
	for i := range want {
		want[i] = strings.Replace(strings.Replace(want[i], "identity", "value", 1), "/id", "/say", 1)
	}
	if diff := cmp.Diff(want, kinds(compared(ref, tell("cand", uuidX, uuidX, "off"), rules))); diff != "" {
		t.Errorf("another word (-want +got):\n%s", diff)
	}
}

func TestDocumentsInTextsAreBounded(t *testing.T) {
	deep := func(word string, times int) string {
		out := `{"say":"` + word + `"}`
		for range times {
			out = `{"in":` + jsonText(out) + `}`
		}
		return `{"a":` + jsonText(out) + `}`
	}
	place := func(times int) string {
		return kinds(compared(newSide("ref").answers(deep("on", times)), newSide("cand").answers(deep("off", times)), nil))[0]
	}
	if got, want := place(3), "value body /a ⟨JSON⟩ /in ⟨JSON⟩ /in ⟨JSON⟩ /in ⟨JSON⟩ /say"; got != want {
		t.Errorf("four deep: %s, want %s", got, want)
	}
	if got, want := place(4), "value body /a ⟨JSON⟩ /in ⟨JSON⟩ /in ⟨JSON⟩ /in ⟨JSON⟩ /in"; got != want {
		t.Errorf("five deep: %s, want %s", got, want)
	}
	large := func(word string) string {
		return `{"a":` + jsonText(`{"say":"`+word+strings.Repeat("x", 1<<20)+`"}`) + `}`
	}
	if diff := cmp.Diff([]string{"value body /a"}, kinds(compared(newSide("ref").answers(large("on")), newSide("cand").answers(large("off")), nil))); diff != "" {
		t.Errorf("a large one (-want +got):\n%s", diff)
	}
}

func TestFingerprintsOfEncodedTextsDoNotDependOnIDs(t *testing.T) {
	of := func(a, b string) string {
		doc := func(id, say string) string {
			return `{"a":"` + base64.StdEncoding.EncodeToString([]byte(`{"x":{"id":"`+id+`","say":"`+say+`"}}`)) + `"}`
		}
		ds := compared(newSide("ref").answers(doc(a, "on")), newSide("cand").answers(doc(b, "off")), nil).Differences
		return fmt.Sprint(len(ds), ds[0].Fingerprint)
	}
	if x, y := of(uuidA, uuidX), of(uuidB, uuidY); x != y {
		t.Errorf("fingerprints %s and %s", x, y)
	}
}
