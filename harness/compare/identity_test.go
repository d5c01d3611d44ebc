package compare

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// idPlaces are the places where an id can occur, and the place that a difference there has.
var idPlaces = []struct {
	name, place string
	tell        func(s side, id string)
}{
	{"a body", "body /of", func(s side, id string) { s.answers(`{"of":"` + id + `"}`) }},
	{"a list", "body /1", func(s side, id string) { s.answers(`["x","` + id + `"]`) }},
	{"a longer text", "body /of", func(s side, id string) { s.answers(`{"of":"client_` + id + `_add"}`) }},
	{"a percent-encoded text", "body /of", func(s side, id string) { s.answers(`{"of":"/x?y=z%3A` + id + `%26"}`) }},
	{"a name", "body /of", func(s side, id string) { s.answers(`{"of":{"` + id + `":1}}`) }},
	{"Location", "header Location", func(s side, id string) {
		s.exchange(201, transcript.Header{{Name: "Location", Value: "/items/" + id + "/parts"}}, "")
	}},
	{"a text", "body", func(s side, id string) { s.exchange(200, nil, "it is "+id) }},
	{"an event's data", "event 1 (e) data /of", func(s side, id string) { s.stream("bus", `e {"of":"`+id+`"}`) }},
	{"an event's id", "event 1 (e) id", func(s side, id string) {
		s.stream("bus", `e {}`)
		s.t.Streams[0].Events[0].ID = id
	}},
	{"JSON in a text", "body /of ⟨JSON⟩ /id", func(s side, id string) { s.answers(`{"of":"{\"id\":\"` + id + `\"}"}`) }},
	{"Base64 in a text", "body /of ⟨Base64⟩ ⟨JSON⟩ /id", func(s side, id string) {
		s.answers(`{"of":"` + base64.StdEncoding.EncodeToString([]byte(`{"id":"`+id+`"}`)) + `"}`)
	}},
}

// Each mix-up of two ids is found once, wherever the id occurs, and on whichever side.
func TestConfusedIDsAreFoundOnce(t *testing.T) {
	for _, shape := range []struct{ name, a, b, x, y string }{
		{"UUIDs", uuidA, uuidB, uuidX, uuidY},
		{"prefixed ids", "ses_0a1b2c3d4e5f", "ses_1a1b2c3d4e5f", "ses_f0eeddcc1122", "ses_f1eeddcc1122"},
		{"ids of another kind", "ses_0a1b2c3d4e5f", "msg_1a1b2c3d4e5f", "ses_f0eeddcc1122", "msg_f1eeddcc1122"},
		{"KSUIDs", "2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K", "2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8L", "2HtvAhVbPcBrJ3Yf7X5Tq1mZs8K", "2HtvAhVbPcBrJ3Yf7X5Tq1mZs8L"},
	} {
		for _, p := range idPlaces {
			t.Run(shape.name+"/"+p.name, func(t *testing.T) {
				story := func(target, first, second, of string) side {
					s := newSide(target).answers(`["` + first + `"]`).answers(`["` + second + `"]`)
					p.tell(s, of)
					return s
				}
				rules := &Rules{Headers: []string{"Location"}}
				right := story("ref", shape.a, shape.b, shape.a)
				for _, tc := range []struct {
					name string
					cand side
					want []string
				}{
					{"right", story("cand", shape.x, shape.y, shape.x), nil},
					{"the id of another thing", story("cand", shape.x, shape.y, shape.y), []string{p.place}},
					{"an id that nobody has", story("cand", shape.x, shape.y, flip(shape.x)), []string{p.place}},
					{"an id of another length", story("cand", shape.x, shape.y, shape.x+"0"), []string{p.place}},
					{"one id for two things", story("cand", shape.x, shape.x, shape.x), []string{"body /0"}},
				} {
					if shape.name == "ids of another kind" && tc.name == "one id for two things" {
						continue // its shape shows that it is the first id, which is reported
					}
					for _, mirrored := range []bool{false, true} {
						ref, cand := right, tc.cand
						if mirrored {
							ref, cand = side{turned(tc.cand.t)}, side{turned(right.t)}
						}
						var got []string
						for _, d := range compared(ref, cand, rules).Differences {
							place := d.At.String()
							if d.Kind == diff.FieldMissing || d.Kind == diff.FieldExtra { // a name that contains another id
								place = place[:strings.LastIndexByte(place, '/')]
							}
							if len(got) == 0 || got[len(got)-1] != place {
								got = append(got, place)
							}
						}
						if diff := cmp.Diff(tc.want, got); diff != "" {
							t.Errorf("%s, mirrored %t (-want +got):\n%s", tc.name, mirrored, diff)
						}
					}
				}
			})
		}
	}
}

// flip returns a different id with the same shape.
func flip(id string) string {
	last := id[len(id)-1]
	return id[:len(id)-1] + string(rune(last^1))
}

// turned returns a copy of a transcript to use as the other side's.
func turned(t *transcript.Transcript) *transcript.Transcript {
	out := *t
	return &out
}

// sends sets what the client sends in the last step.
func (s side) sends(target, body string) side {
	x := s.t.Steps[len(s.t.Steps)-1].Exchanges[0]
	x.Request = transcript.Request{Method: "POST", Target: target, Body: transcript.Body{Bytes: []byte(body)}}
	return s
}

// If a client's own id comes back as another one, that is found at its only appearance.
func TestWhatTheClientSendsIsBound(t *testing.T) {
	for _, tc := range []struct{ name, target, body, right, wrong string }{
		{"a UUID in the body", "/x", `{"call":"` + uuidA + `"}`, uuidA, uuidX},
		{"a UUID in the path", "/x/" + uuidA, "", uuidA, uuidX},
		{"a UUID in the query", "/x?of=" + uuidA, "", uuidA, uuidX},
	} {
		t.Run(tc.name, func(t *testing.T) {
			story := func(target, echoed string) side {
				return newSide(target).answers(`{"call":"`+echoed+`"}`).sends(tc.target, tc.body)
			}
			if got := kinds(compared(story("ref", tc.right), story("cand", tc.right), nil)); got != nil {
				t.Errorf("echoed: %v", got)
			}
			for _, sides := range [][2]string{{tc.right, tc.wrong}, {tc.wrong, tc.right}} {
				got := kinds(compared(story("ref", sides[0]), story("cand", sides[1]), nil))
				if diff := cmp.Diff([]string{"identity body /call"}, got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", sides, diff)
				}
			}
		})
	}
	burst := func(target, first, second string) side {
		s := newSide(target).answers(`{}`)
		st := &s.t.Steps[0]
		st.Burst = true
		for _, id := range []string{first, second} {
			x := *st.Exchanges[0]
			x.Request = transcript.Request{Target: "/" + id}
			st.Exchanges = append(st.Exchanges, &x)
		}
		return s.answers(`"` + uuidA + `"`)
	}
	if got := kinds(compared(burst("ref", uuidA, uuidB), burst("cand", uuidB, uuidA), nil)); got != nil {
		t.Errorf("requests at once, in another order: %v", got)
	}
}

// sendsFields adds header fields, "Name: value", to what the client sends in the last step.
func (s side) sendsFields(fields ...string) side {
	r := &s.t.Steps[len(s.t.Steps)-1].Exchanges[0].Request
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		r.Header = append(r.Header, transcript.Field{Name: name, Value: strings.ReplaceAll(value, "‹unique›", s.t.Unique)})
	}
	return s
}

func TestWhatTheClientSendsInHeaderFieldsIsBound(t *testing.T) {
	const trace, other = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"
	byRule := &Rules{Volatile: []jsondiff.Volatile{{At: "$.call", Kind: jsondiff.ID}}}
	for _, tc := range []struct {
		name, field, right, wrong string
		rules                     *Rules
	}{
		{"a request id", "X-Request-Id: " + uuidA, uuidA, uuidX, nil},
		{"a key", "Idempotency-Key: key_0a1b2c3d4e5f", "key_0a1b2c3d4e5f", "key_f0eeddcc1122", nil},
		{"a trace", "traceparent: 00-" + trace + "-00f067aa0ba902b7-01", "00-" + trace + "-b7ad6b7169203331-01", "00-" + other + "-b7ad6b7169203331-01", nil},
		{"a trace alone", "traceparent: 00-" + trace + "-00f067aa0ba902b7-01", trace, other, nil},
		{"a cookie", "Cookie: theme=dark; session=" + uuidA, uuidA, uuidX, nil},
		{"an id that a rule lets look like anything", "X-Request-Id: lamp-and-chair", "lamp-and-chair", "0e4fa77c", byRule},
		{"the unique part of a name, where a rule lets it look like anything", "X-Request-Id: call-‹unique›", "call-‹unique›", "0e4fa77c", byRule},
		{"a cookie that a rule lets look like anything", "Cookie: theme=dark; session=lamp-and-chair", "lamp-and-chair", "0e4fa77c", byRule},
	} {
		t.Run(tc.name, func(t *testing.T) {
			story := func(target, echoed string) side {
				s := newSide(target)
				return s.answers(`{"call":"`+strings.ReplaceAll(echoed, "‹unique›", s.t.Unique)+`"}`).
					sends("/x", "").sendsFields("Accept: */*", "X-Request-Id: none", tc.field)
			}
			if got := kinds(compared(story("ref", tc.right), story("cand", tc.right), tc.rules)); got != nil {
				t.Errorf("echoed: %v", got)
			}
			for _, sides := range [][2]string{{tc.right, tc.wrong}, {tc.wrong, tc.right}} {
				got := compared(story("ref", sides[0]), story("cand", sides[1]), tc.rules)
				if len(got.Differences) != 1 || got.Differences[0].At.String() != "body /call" {
					t.Errorf("%v: %v, want a difference at body /call", sides, kinds(got))
				}
			}
		})
	}
}

// Ids in a large body are bound as fast as those in a small one. Other differences between the bodies do not prevent
// that.
func TestWhatTheClientSendsInALargeBodyIsBound(t *testing.T) {
	story := func(target, captured string, echoed int) side {
		var body strings.Builder
		body.WriteString(`{"captured":"` + captured + `","list":[`)
		for i := range 20_000 {
			fmt.Fprintf(&body, `{"call":"%08d-7d2a-4c55-9a60-5f1e2d3c4b5a","name":"lamp %s"},`, i, "‹unique›")
		}
		s := newSide(target)
		sent := strings.ReplaceAll(body.String()+`0]}`, "‹unique›", s.t.Unique)
		return s.answers(fmt.Sprintf(`{"call":"%08d-7d2a-4c55-9a60-5f1e2d3c4b5a"}`, echoed)).sends("/x", sent)
	}
	for _, captured := range []string{"7", "8"} { // the same as on the other side, and a different one without a shape
		if got := kinds(compared(story("ref", "7", 19_999), story("cand", captured, 19_999), nil)); got != nil {
			t.Errorf("captured %s, echoed: %v", captured, got)
		}
		got := kinds(compared(story("ref", "7", 19_999), story("cand", captured, 20_000), nil))
		if diff := cmp.Diff([]string{"identity body /call"}, got); diff != "" {
			t.Errorf("captured %s, another one (-want +got):\n%s", captured, diff)
		}
	}
}

// A rule of the kind id allows values of any form, but an id must not stand for two things.
func TestARuleForIDsHidesNoConfusion(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$.id", Kind: jsondiff.ID}}}
	answer := func(target, before, id string) side {
		return newSide(target).answers(before, fmt.Sprintf(`{"id":%s}`, id)).sends("/x", `{"callID":"call-of-the-client","to":"reference-a"}`)
	}
	for _, tc := range []struct {
		name      string
		ref, cand [2]string // the earlier value, and the id
		want      []string
	}{
		{"any two", [2]string{`1`, `"abcdefgh"`}, [2]string{`1`, `"x"`}, nil},
		{"numbers", [2]string{`1`, `17`}, [2]string{`1`, `18`}, nil},
		{"of two types", [2]string{`1`, `17`}, [2]string{`1`, `"17"`}, []string{"type body /id"}},
		{"an empty one", [2]string{`1`, `"abcdefgh"`}, [2]string{`1`, `""`}, []string{"value body /id"}},
		{"two empty ones", [2]string{`1`, `""`}, [2]string{`1`, `""`}, nil},
		{"another thing's id", [2]string{`["` + uuidA + `"]`, `"` + uuidB + `"`}, [2]string{`["` + uuidX + `"]`, `"` + uuidX + `"`}, []string{"identity body /id"}},
		{"another id of the thing", [2]string{`["` + uuidA + `"]`, `"` + uuidA + `"`}, [2]string{`["` + uuidX + `"]`, `"` + uuidY + `"`}, []string{"identity body /id"}},
		{"the same id of the thing", [2]string{`["` + uuidA + `"]`, `"` + uuidA + `"`}, [2]string{`["` + uuidX + `"]`, `"` + uuidX + `"`}, nil},
		{"what the client has sent", [2]string{`1`, `"made-up-of-it"`}, [2]string{`1`, `"call-of-the-client"`}, []string{"identity body /id"}},
		{"what the client has sent, on both sides", [2]string{`1`, `"call-of-the-client"`}, [2]string{`1`, `"call-of-the-client"`}, nil},
		{"two things that the client has sent", [2]string{`1`, `"reference-a"`}, [2]string{`1`, `"call-of-the-client"`}, []string{"identity body /id"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, sides := range [][2][2]string{{tc.ref, tc.cand}, {tc.cand, tc.ref}} {
				got := kinds(compared(answer("ref", sides[0][0], sides[0][1]), answer("cand", sides[1][0], sides[1][1]), rules))
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", sides, diff)
				}
			}
		})
	}
}

// A server that mentions its own address uses the port of the request.
func TestTheOwnPortOfATarget(t *testing.T) {
	story := func(target, host, answer string) side {
		s := newSide(target).answers(`{"url":"http://` + answer + `/x"}`)
		s.t.Steps[0].Exchanges[0].Request = transcript.Request{Method: "GET", Target: "/", Header: transcript.Header{{Name: "Host", Value: host}}}
		return s
	}
	for _, tc := range []struct {
		name      string
		ref, cand string
		want      []string
	}{
		{"its own", "127.0.0.1:3001", "127.0.0.1:4001", nil},
		{"its own, by name", "localhost:3001", "localhost:4001", nil},
		{"another's, that is the same for both", "127.0.0.1:5432", "127.0.0.1:5432", nil},
		{"one of each", "127.0.0.1:3001", "127.0.0.1:5432", []string{"identity body /url"}},
		{"the other's", "127.0.0.1:3001", "127.0.0.1:3001", []string{"identity body /url"}},
		{"two others", "127.0.0.1:6001", "127.0.0.1:6002", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, sides := range [][2]side{
				{story("ref", "127.0.0.1:3001", tc.ref), story("cand", "127.0.0.1:4001", tc.cand)},
				{story("ref", "127.0.0.1:4001", tc.cand), story("cand", "127.0.0.1:3001", tc.ref)},
			} {
				if diff := cmp.Diff(tc.want, kinds(compared(sides[0], sides[1], nil))); diff != "" {
					t.Errorf("differences (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// An id that a rule has bound is recognised in percent-encoded form.
func TestBoundIDsArePercentEncoded(t *testing.T) {
	rules := &Rules{Headers: []string{"Location"}, Volatile: []jsondiff.Volatile{{At: "$.id", Kind: jsondiff.ID}}}
	story := func(target, id, location string) side {
		return newSide(target).answers(`{"id":"`+id+`"}`).exchange(201, transcript.Header{{Name: "Location", Value: location}}, "")
	}
	for _, tc := range []struct {
		name, ref, cand string
		want            []string
	}{
		{"in a path", "/x/ab%2Fcd%20e", "/x/fg%2Fhi%20j", nil},
		{"in a query", "/x?of=ab%2Fcd+e", "/x?of=fg%2Fhi+j", nil},
		{"as it is", "/x/ab/cd e", "/x/fg/hi j", nil},
		{"another one", "/x/ab%2Fcd%20e", "/x/fg%2Fhi%20k", []string{"header-value header Location"}},
		{"a constant", "/x/ab%2Fcd%20e", "/x/ab%2Fcd%20e", []string{"header-value header Location"}},
	} {
		got := kinds(compared(story("ref", "ab/cd e", tc.ref), story("cand", "fg/hi j", tc.cand), rules))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// Events of another stream or another parent contain ids that were bound elsewhere.
func TestForeignEventsAndParents(t *testing.T) {
	story := func(target, first, second, mine, parent string) side {
		return newSide(target).answers(`{"id":"`+first+`"}`, `{"id":"`+second+`"}`).
			stream("mine", `e {"session":"`+mine+`"}`, `e {"parent":{"id":"`+parent+`"}}`)
	}
	ref := story("ref", uuidA, uuidB, uuidA, uuidA)
	for _, tc := range []struct {
		name string
		cand side
		want []string
	}{
		{"right", story("cand", uuidX, uuidY, uuidX, uuidX), nil},
		{"another stream's event", story("cand", uuidX, uuidY, uuidY, uuidX), []string{"identity event 1 (e) data /session"}},
		{"another parent", story("cand", uuidX, uuidY, uuidX, uuidY), []string{"identity event 2 (e) data /parent/id"}},
	} {
		if diff := cmp.Diff(tc.want, kinds(compared(ref, tc.cand, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if diff := cmp.Diff(tc.want, kinds(compared(tc.cand, ref, nil))); diff != "" {
			t.Errorf("%s, mirrored (-want +got):\n%s", tc.name, diff)
		}
	}
}

// One UUID has several spellings (RFC 9562 section 4), and all of them identify the same thing.
func TestAUUIDIsTheSameInAnotherSpelling(t *testing.T) {
	bare := func(s string) string { return strings.ReplaceAll(s, "-", "") }
	const refID, candID, stray = "0f3a9b21-c7d4-4e6f-8a1b-2c3d4e5f6a7b", "91bd04e7-a2c3-45f1-9b2c-3d4e5f6a7b8c", "77aa04e7-a2c3-4111-8c3d-4e5f6a7b8c9d"
	for name, spell := range map[string]func(string) string{
		"capitals": strings.ToUpper, "no dashes": bare, "no dashes, in capitals": func(s string) string { return strings.ToUpper(bare(s)) },
		"behind a prefix": func(s string) string { return "ses_" + bare(s) },
	} {
		for id, want := range map[string][]string{candID: nil, stray: {"identity body /again"}} {
			story := func(target, first, again string) side {
				return newSide(target).answers(`{"id":"`+first+`"}`, `{"again":"`+spell(again)+`"}`)
			}
			if diff := cmp.Diff(want, kinds(compared(story("ref", refID, refID), story("cand", candID, id), nil))); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, id, diff)
			}
		}
	}
}
