package compare

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// side builds a transcript. The unique token is uref00000001 for the reference and ucand0000002 for the candidate.
type side struct{ t *transcript.Transcript }

func newSide(target string) side {
	unique := "uref00000001"
	if target == "cand" {
		unique = "ucand0000002"
	}
	return side{&transcript.Transcript{Scenario: "s", Target: target, Unique: unique, Started: start}}
}

// answers adds a step for each body. All have status 200 and are JSON.
func (s side) answers(bodies ...string) side {
	for _, body := range bodies {
		s.exchange(200, transcript.Header{{Name: "Content-Type", Value: "application/json"}}, body)
	}
	return s
}

func (s side) exchange(status int, h transcript.Header, body string) side {
	s.t.Steps = append(s.t.Steps, transcript.Step{
		ID: fmt.Sprint(len(s.t.Steps) + 1),
		Exchanges: []*transcript.Exchange{{
			Response: &transcript.Response{Status: status, Header: h, Body: transcript.Body{Bytes: []byte(body), Size: int64(len(body))}},
		}},
	})
	return s
}

// stream adds a stream. An event is written as "name data", and a comment as ": text".
func (s side) stream(name string, events ...string) side {
	st := &transcript.Stream{Name: name, Step: "1", Operation: "GET /" + name, Ended: transcript.EndedByClient}
	for i, e := range events {
		ev := transcript.Event{At: time.Duration(i) * time.Millisecond, Framing: "data: •\n\n"}
		if text, ok := strings.CutPrefix(e, ": "); ok {
			ev.Comment, ev.Data = true, text
		} else {
			ev.Name, ev.Data, _ = strings.Cut(e, " ")
		}
		st.Events = append(st.Events, ev)
	}
	s.t.Streams = append(s.t.Streams, st)
	return s
}

// kinds returns "kind place" of each difference.
func kinds(r Result) []string {
	var out []string
	for _, d := range r.Differences {
		out = append(out, string(d.Kind)+" "+d.At.String())
	}
	return out
}

func compared(ref, cand side, rules *Rules) Result {
	if rules == nil {
		rules = &Rules{}
	}
	return Transcripts(nil, ref.t, cand.t, rules)
}

func TestADifferenceHasThePlacesOfBothSides(t *testing.T) {
	rename := `{"a":{"ses_%s":{"n":%d}},"l":[%s{"id":"ses_%s","n":1}]}`
	ref := newSide("ref").answers(fmt.Sprintf(rename, "0a1b2c3d4e5f", 1, "", "0a1b2c3d4e5f"))
	cand := newSide("cand").answers(fmt.Sprintf(rename, "ffeeddcc1122", 2, `"new",`, "ffeeddcc1133"))
	var got []string
	for _, d := range compared(ref, cand, nil).Differences {
		got = append(got, fmt.Sprintf("%s: %s, %s", d.Kind, d.At.InContract(0), d.At.InContract(1)))
	}
	want := []string{
		"value: body/a/ses_0a1b2c3d4e5f/n, body/a/ses_ffeeddcc1122/n",
		"element-extra: body/l/0, body/l/0",
		"identity: body/l/0/id, body/l/1/id",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

func TestBodies(t *testing.T) {
	for _, tc := range []struct {
		name      string
		ref, cand []string // the bodies, step by step
		want      []string
	}{
		{"equal", []string{`{"a":1}`}, []string{`{"a":1}`}, nil},
		{"key order and blanks", []string{`{"a":1,"b":[1,2]}`}, []string{"{ \"b\": [1, 2],\n\"a\": 1 }"}, nil},
		{"numbers of one value", []string{`[1.0,100.0]`}, []string{`[1.00,1e2]`}, nil},
		{"numbers beyond a double", []string{`[9007199254740993]`}, []string{`[9007199254740992]`}, []string{"value body /0"}},
		{"escapes of one text", []string{`"<\u00fc>"`}, []string{`"\u003cü\u003e"`}, nil},
		{"another text", []string{`{"error":"Unknown request ID"}`}, []string{`{"error":"Unknown request"}`}, []string{"value body /error"}},
		{"another type", []string{`{"a":1}`}, []string{`{"a":"1"}`}, []string{"type body /a"}},
		{"null and absent", []string{`{"a":null}`}, []string{`{}`}, []string{"field-missing body /a"}},
		{"a field too many", []string{`{}`}, []string{`{"a":1}`}, []string{"field-extra body /a"}},
		{"all of them at once", []string{`{"a":1,"b":2,"c":3}`}, []string{`{"a":"1","b":3,"d":4}`}, []string{"type body /a", "value body /b", "field-missing body /c", "field-extra body /d"}},
		{"a list with one element more", []string{`[1,2,3,4]`}, []string{`[1,2,9,3,4]`}, []string{"element-extra body /2"}},
		{"a list with one element less", []string{`[1,2,3,4]`}, []string{`[1,3,4]`}, []string{"element-missing body /1"}},
		{"a list in another order", []string{`{"l":["a","b","c"]}`}, []string{`{"l":["b","a","c"]}`}, []string{"order body /l"}},
		{"a list with another element", []string{`["a","b"]`}, []string{`["a","c"]`}, []string{"value body /1"}},
		{"a deep pointer", []string{`{"a/b":[{"~":1}]}`}, []string{`{"a/b":[{"~":2}]}`}, []string{"value body /a~1b/0/~0"}},
		{"JSON on one side", []string{`{}`}, []string{`{`}, []string{"body-not-json body"}},
		{"JSON on neither side", []string{`{x`}, []string{`{y`}, []string{"body body"}},
		{"JSON on neither side, the same text", []string{`{x`}, []string{`{x`}, nil},
		{
			"ids of one kind in one place",
			[]string{`{"id":"ses_0a1b2c3d4e5f"}`, `{"session":"ses_0a1b2c3d4e5f"}`},
			[]string{`{"id":"ses_ffeeddcc1122"}`, `{"session":"ses_ffeeddcc1122"}`}, nil,
		},
		{
			"an id that changes",
			[]string{`{"id":"ses_0a1b2c3d4e5f"}`, `{"session":"ses_0a1b2c3d4e5f"}`},
			[]string{`{"id":"ses_ffeeddcc1122"}`, `{"session":"ses_ffeeddcc1133"}`},
			[]string{"identity body /session"},
		},
		{
			"ids that are swapped",
			[]string{`["ses_0a1b2c3d4e5f","ses_1a1b2c3d4e5f"]`, `{"first":"ses_0a1b2c3d4e5f"}`},
			[]string{`["ses_f0eeddcc1122","ses_f1eeddcc1122"]`, `{"first":"ses_f1eeddcc1122"}`},
			[]string{"identity body /first"},
		},
		{
			"one id where the reference has two",
			[]string{`["ses_0a1b2c3d4e5f","ses_1a1b2c3d4e5f"]`},
			[]string{`["ses_f0eeddcc1122","ses_f0eeddcc1122"]`},
			[]string{"identity body /1"},
		},
		{
			"equal ids are bound too",
			[]string{`{"id":"ses_0a1b2c3d4e5f"}`, `{"id":"ses_1a1b2c3d4e5f"}`},
			[]string{`{"id":"ses_0a1b2c3d4e5f"}`, `{"id":"ses_0a1b2c3d4e5f"}`},
			[]string{"identity body /id"},
		},
		{
			"an id of another kind",
			[]string{`"0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a"`}, []string{`"ses_0a1b2c3d4e5f"`}, []string{"value body"},
		},
		{
			"ids inside longer texts",
			[]string{`"0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a"`, `"in /x/0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a/y"`},
			[]string{`"1b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a"`, `"in /x/1b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a/y"`}, nil,
		},
		{
			"the unique token in texts and names",
			[]string{`{"client_c-uref00000001_a":"client_c-uref00000001_a"}`},
			[]string{`{"client_c-ucand0000002_a":"client_c-ucand0000002_a"}`}, nil,
		},
		{
			"the reference's unique token on the candidate",
			[]string{`{"id":"c-uref00000001"}`}, []string{`{"id":"c-uref00000001"}`}, []string{"value body /id"},
		},
		{
			"times of this run",
			[]string{`[1772366400123,"2026-03-01T12:00:00Z","Sun, 01 Mar 2026 12:00:00 GMT",1772366400]`},
			[]string{`[1772366401999,"2026-03-01T12:00:02Z","Sun, 01 Mar 2026 12:00:01 GMT",1772366402]`}, nil,
		},
		{
			"times of another day",
			[]string{`[1772366400123,"2026-03-01T12:00:00Z"]`},
			[]string{`[1772466401999,"2026-03-02T12:00:02Z"]`}, []string{"value body /0", "value body /1"},
		},
		{"seconds for milliseconds", []string{`[1772366400123]`}, []string{`[1772366400]`}, []string{"value body /0"}},
		{
			"milliseconds inside an id are bound with it",
			[]string{`"c_1772366400123"`, `"c_1772366400123"`}, []string{`"c_1772366400999"`, `"c_1772366400998"`},
			[]string{"identity body"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := compared(newSide("ref").answers(tc.ref...), newSide("cand").answers(tc.cand...), nil)
			if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if got.Exchanges != len(tc.ref) {
				t.Errorf("compared %d exchanges, want %d", got.Exchanges, len(tc.ref))
			}
		})
	}
}

func TestVolatileRules(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$..requestID", Kind: jsondiff.ID}, {At: "$.text", Kind: jsondiff.Text}, {At: "$.at", Kind: jsondiff.Time}}}
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
	}{
		{"any text", []string{`{"text":"one"}`}, []string{`{"text":"two"}`}, nil},
		{"a text is still a text", []string{`{"text":"one"}`}, []string{`{"text":2}`}, []string{"type body /text"}},
		{"a text must be there", []string{`{"text":"one"}`}, []string{`{}`}, []string{"field-missing body /text"}},
		{"ids of any shape", []string{`{"requestID":"r1"}`, `{"a":{"requestID":"r1"}}`}, []string{`{"requestID":"77"}`, `{"a":{"requestID":"77"}}`}, nil},
		{"another id", []string{`{"requestID":"r1"}`, `{"requestID":"r1"}`}, []string{`{"requestID":"77"}`, `{"requestID":"78"}`}, []string{"identity body /requestID"}},
		{"equal ids are bound", []string{`{"requestID":"1"}`, `{"requestID":"2"}`}, []string{`{"requestID":"1"}`, `{"requestID":"1"}`}, []string{"identity body /requestID"}},
		{"numbers as ids", []string{`{"requestID":1}`, `{"requestID":2}`}, []string{`{"requestID":5}`, `{"requestID":6}`}, nil},
		{"an id of another type", []string{`{"requestID":"1"}`}, []string{`{"requestID":1}`}, []string{"type body /requestID"}},
		{"a bound id inside a longer text", []string{`{"requestID":"alpha-1"}`, `"got alpha-1."`}, []string{`{"requestID":"beta-20"}`, `"got beta-20."`}, nil},
		{"another id inside a longer text", []string{`{"requestID":"alpha-1"}`, `"got alpha-1."`}, []string{`{"requestID":"beta-20"}`, `"got beta-21."`}, []string{"value body"}},
		{"a time of this run", []string{`{"at":1772366400123}`}, []string{`{"at":1772366400999}`}, nil},
		{"a time of another day", []string{`{"at":1772366400123}`}, []string{`{"at":1772966400999}`}, []string{"value body /at"}},
		{"a time in another unit", []string{`{"at":1772366400123}`}, []string{`{"at":1772366400}`}, []string{"value body /at"}},
		{"no time at all", []string{`{"at":"soon"}`}, []string{`{"at":"later"}`}, []string{"value body /at"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := compared(newSide("ref").answers(tc.ref...), newSide("cand").answers(tc.cand...), rules)
			if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusAndHeaders(t *testing.T) {
	h := func(pairs ...string) transcript.Header {
		var out transcript.Header
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, transcript.Field{Name: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	for _, tc := range []struct {
		name      string
		ref, cand transcript.Header
		want      []string
	}{
		{"names differ in case", h("Allow", "GET"), h("allow", "GET"), nil},
		{"fields that nobody named", h("Server", "a"), h("Server", "b", "X", "1"), nil},
		{"a value", h("Allow", "GET"), h("Allow", "POST"), []string{"header-value header Allow"}},
		{"the case of a value", h("Allow", "GET"), h("Allow", "get"), []string{"header-value header Allow"}},
		{"missing", h("Allow", "GET"), nil, []string{"header-missing header Allow"}},
		{"extra", nil, h("Allow", "GET"), []string{"header-extra header Allow"}},
		{"twice", h("Allow", "GET"), h("Allow", "GET", "Allow", "HEAD"), []string{"header-value header Allow"}},
		{"an id in a value", h("Location", "/s/0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a"), h("Location", "/s/1b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a"), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := &Rules{Headers: []string{"Allow", "Location"}}
			got := compared(newSide("ref").exchange(200, tc.ref, ""), newSide("cand").exchange(200, tc.cand, ""), rules)
			if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
	got := compared(newSide("ref").exchange(200, nil, ""), newSide("cand").exchange(204, nil, ""), nil)
	if diff := cmp.Diff([]string{"status status"}, kinds(got)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestBodiesBindIdsBeforeHeaders(t *testing.T) {
	h := func(id string) transcript.Header {
		return transcript.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "Location", Value: "/s/" + id}}
	}
	ref := newSide("ref").exchange(200, h("ses_0a1b2c3d4e5f"), `{"id":"ses_0a1b2c3d4e5f"}`).answers(`{"id":"ses_0a1b2c3d4e5f"}`)
	cand := newSide("cand").exchange(200, h("ses_ffeeddcc9999"), `{"id":"ses_ffeeddcc1122"}`).answers(`{"id":"ses_ffeeddcc1122"}`)
	got := compared(ref, cand, &Rules{Headers: []string{"Location"}})
	if diff := cmp.Diff([]string{"identity header Location"}, kinds(got)); diff != "" {
		t.Fatalf("differences (-want +got):\n%s", diff)
	}
	want := `the candidate has another id ("ses_ffeeddcc9999") where the reference has ‹ses 1› ("ses_0a1b2c3d4e5f"); the reference's was paired with the candidate's "ses_ffeeddcc1122" at step 1 body /id`
	if text := got.Differences[0].Text(); text != want {
		t.Errorf("said: %s\nwant: %s", text, want)
	}
}

func TestWhereTwoIdsMetIsSaidWithItsStep(t *testing.T) {
	h := func(id string) transcript.Header { return transcript.Header{{Name: "Location", Value: "/s/" + id}} }
	ref := newSide("ref").exchange(200, h("ses_0a1b2c3d4e5f"), "").answers(`"ses_0a1b2c3d4e5f"`)
	cand := newSide("cand").exchange(200, h("ses_ffeeddcc9999"), "").answers(`"ses_ffeeddcc1122"`)
	got := compared(ref, cand, &Rules{Headers: []string{"Location"}}).Differences
	if len(got) != 1 || !strings.HasSuffix(got[0].Text(), "at step 1 header Location") {
		t.Errorf("differences %+v", got)
	}
}

func TestAnotherContentTypeIsNoOtherBody(t *testing.T) {
	h := func(name, value string) transcript.Header { return transcript.Header{{Name: name, Value: value}} }
	const json, plain = "application/json", "text/plain"
	for _, tc := range []struct {
		name      string
		cand      transcript.Header
		body      string
		want      []string // if content types are compared
		otherwise []string
	}{
		{"the same type", h("Content-Type", json), `{"b":2, "a":1}`, nil, nil},
		{"another type", h("Content-Type", plain), `{"b":2, "a":1}`, []string{"header-value header Content-Type"}, []string{"body-not-json body"}},
		{"no type", nil, `{"b":2, "a":1}`, []string{"header-missing header Content-Type"}, []string{"body-not-json body"}},
		{"another type and another value", h("Content-Type", plain), `{"a":1,"b":3}`, []string{"header-value header Content-Type", "value body /b"}, []string{"body-not-json body"}},
		{"another type and a text", h("Content-Type", plain), `oops`, []string{"header-value header Content-Type", "body-not-json body"}, []string{"body-not-json body"}},
	} {
		ref, cand := newSide("ref").exchange(200, h("Content-Type", json), `{"a":1,"b":2}`), newSide("cand").exchange(200, tc.cand, tc.body)
		if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, &Rules{Headers: []string{"Content-Type"}}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if diff := cmp.Diff(tc.otherwise, kinds(compared(ref, cand, nil))); diff != "" {
			t.Errorf("%s, where types are not compared (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestAnErrorIsNotComparedMemberByMember(t *testing.T) {
	json := transcript.Header{{Name: "Content-Type", Value: "application/json"}}
	for _, tc := range []struct {
		name      string
		ref, cand int
		body      string
		want      []string
	}{
		{"two successes", 200, 201, `{"b":1}`, []string{"status status", "field-missing body /a", "field-extra body /b"}},
		{"a success and an error", 200, 404, `{"b":1}`, []string{"status status", "body body"}},
		{"an error and a success", 500, 200, `{"b":1}`, []string{"status status", "body body"}},
		{"two errors", 404, 500, `{"b":1}`, []string{"status status", "field-missing body /a", "field-extra body /b"}},
		{"the reference's values", 200, 404, `{ "a" : "uref00000001" }`, []string{"status status", "body body"}},
		{"the same body up to renaming", 200, 404, `{ "a" : "ucand0000002" }`, []string{"status status"}},
	} {
		ref := newSide("ref").exchange(tc.ref, json, `{"a":"uref00000001"}`)
		got := compared(ref, newSide("cand").exchange(tc.cand, json, tc.body), nil)
		if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestAStepHasHeadersOfItsOwn(t *testing.T) {
	h := transcript.Header{{Name: "X", Value: "1"}}
	rules := &Rules{Steps: map[string]Step{"2": {Headers: []string{"x"}}}}
	got := compared(newSide("ref").exchange(200, h, "").exchange(200, h, ""), newSide("cand").exchange(200, nil, "").exchange(200, nil, ""), rules)
	if len(got.Differences) != 1 || got.Differences[0].Step != "2" {
		t.Errorf("differences %+v, want one in step 2", got.Differences)
	}
}

func TestStreams(t *testing.T) {
	for _, tc := range []struct {
		name      string
		ref, cand []string
		rule      streamdiff.Rules
		want      []string
	}{
		{"equal", []string{`a {"x":1}`, `b {}`}, []string{`a {"x":1}`, `b {}`}, streamdiff.Rules{}, nil},
		{"one is lost", []string{`a 1`, `b 2`, `c 3`}, []string{`a 1`, `c 3`}, streamdiff.Rules{}, []string{"event-missing event 2 (b)"}},
		{"the last is lost", []string{`a 1`, `b 2`}, []string{`a 1`}, streamdiff.Rules{}, []string{"event-missing event 2 (b)"}},
		{"one is added", []string{`a 1`, `c 3`}, []string{`a 1`, `b 2`, `c 3`}, streamdiff.Rules{}, []string{"event-extra event 2 (b)"}},
		{"one is doubled", []string{`a 1`, `b 2`, `c 3`}, []string{`a 1`, `b 2`, `b 2`, `c 3`}, streamdiff.Rules{}, []string{"event-doubled event 3 (b)"}},
		{"one stands three times", []string{`a 1`, `b 2`, `c 3`}, []string{`a 1`, `b 2`, `b 2`, `b 2`, `c 3`}, streamdiff.Rules{}, []string{"event-doubled event 3 (b)", "event-doubled event 4 (b)"}},
		{"one that the reference does not have, twice", []string{`a 1`, `c 3`}, []string{`a 1`, `b 2`, `b 2`, `c 3`}, streamdiff.Rules{}, []string{"event-extra event 2 (b)", "event-extra event 3 (b)"}},
		{"two change places", []string{`a 1`, `b 2`}, []string{`b 2`, `a 1`}, streamdiff.Rules{}, []string{"event-order event 2 (a)"}},
		{"one is moved far", []string{`a 1`, `b 2`, `c 3`, `d 4`}, []string{`d 4`, `a 1`, `b 2`, `c 3`}, streamdiff.Rules{}, []string{"event-order event 1 (d)"}},
		{"one is moved, and another in a field", []string{`a {"n":1}`, `b 2`, `c 3`}, []string{`b 2`, `c 3`, `a {"n":9}`}, streamdiff.Rules{}, []string{
			"event-order event 3 (a)", "value event 1 (a) data /n",
		}},
		{"one is moved and changed, and one of its name is missing", []string{`a {"n":1}`, `a {"n":5}`, `b 2`, `c 3`}, []string{`b 2`, `c 3`, `a {"n":9}`}, streamdiff.Rules{}, []string{
			"event-missing event 2 (a)", "event-order event 3 (a)", "value event 1 (a) data /n",
		}},
		{"one is missing and one of another name too many", []string{`a {"n":1}`, `b 2`, `c 3`}, []string{`b 2`, `c 3`, `d {"n":9}`}, streamdiff.Rules{}, []string{
			"event-missing event 1 (a)", "event-extra event 3 (d)",
		}},
		{"two of one name change places", []string{`a {"n":1}`, `a {"n":2}`}, []string{`a {"n":2}`, `a {"n":1}`}, streamdiff.Rules{}, []string{"event-order event 2 (a)"}},
		{"a value in one", []string{`a {"n":1}`, `b {}`}, []string{`a {"n":2}`, `b {}`}, streamdiff.Rules{}, []string{"value event 1 (a) data /n"}},
		{"another name", []string{`a 1`, `b {"n":1}`}, []string{`a 1`, `c {"n":1}`}, streamdiff.Rules{}, []string{"event-name event 2 (b)"}},
		{"another name, which the data repeats", []string{`b {"type":"b","n":1}`}, []string{`c {"type":"c","n":1}`}, streamdiff.Rules{}, []string{"event-name event 1 (b)"}},
		{"a comment that only one side sends", []string{`a 1`}, []string{`a 1`, `: hi`}, streamdiff.Rules{}, []string{"event-extra event 2 (a comment)"}},
		{"comments that beat", []string{`a 1`}, []string{`: x`, `a 1`, `: y`}, streamdiff.Rules{Heartbeat: &streamdiff.Heartbeat{}}, nil},
		{"pings that beat", []string{`a 1`, `ping `}, []string{`ping `, `ping `, `a 1`}, streamdiff.Rules{Heartbeat: &streamdiff.Heartbeat{Event: "ping"}}, nil},
		{"all are lost", []string{`a 1`, `b 2`}, nil, streamdiff.Rules{}, []string{"event-missing event 1 (a)", "event-missing event 2 (b)"}},
		{
			"order across keys is free", []string{`a {"k":1}`, `b {"k":1}`, `a {"k":2}`}, []string{`a {"k":2}`, `a {"k":1}`, `b {"k":1}`},
			streamdiff.Rules{OrderWithin: "$.k"}, nil,
		},
		{
			"order within a key is not", []string{`a {"k":1}`, `b {"k":1}`, `a {"k":2}`}, []string{`b {"k":1}`, `a {"k":2}`, `a {"k":1}`},
			streamdiff.Rules{OrderWithin: "$.k"}, []string{"event-order event 3 (a)"},
		},
		{
			"keys are equal up to renaming", []string{`a {"k":"uref00000001"}`, `a {"k":"x"}`}, []string{`a {"k":"x"}`, `a {"k":"ucand0000002"}`},
			streamdiff.Rules{OrderWithin: "$.k"}, nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := &Rules{Streams: map[string]streamdiff.Rules{"GET /bus": tc.rule}}
			got := compared(newSide("ref").stream("bus", tc.ref...), newSide("cand").stream("bus", tc.cand...), rules)
			if diff := cmp.Diff(tc.want, kinds(got)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIdsHoldAcrossBodiesAndStreams(t *testing.T) {
	ref := newSide("ref").answers(`{"id":"ses_0a1b2c3d4e5f"}`).stream("bus", `a {"id":"ses_0a1b2c3d4e5f"}`)
	cand := newSide("cand").answers(`{"id":"ses_ffeeddcc1122"}`).stream("bus", `a {"id":"ses_ffeeddcc9999"}`)
	want := []string{"identity event 1 (a) data /id"}
	if diff := cmp.Diff(want, kinds(compared(ref, cand, nil))); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestFramingIsComparedWhenItMustBeExact(t *testing.T) {
	ref, cand := newSide("ref").stream("bus", `a 1`), newSide("cand").stream("bus", `a 1`)
	cand.t.Streams[0].Events[0].Framing = "data:•\n\n"
	if got := kinds(compared(ref, cand, nil)); got != nil {
		t.Errorf("semantic framing: %v, want none", got)
	}
	got := kinds(compared(ref, cand, &Rules{Streams: map[string]streamdiff.Rules{"bus": {Exact: true}}}))
	if diff := cmp.Diff([]string{"event-framing event 1 (a) framing"}, got); diff != "" {
		t.Errorf("exact framing (-want +got):\n%s", diff)
	}
}

func TestEventFields(t *testing.T) {
	change := map[string]func(*transcript.Event){
		"event-name event 1 (a) event field": func(ev *transcript.Event) { ev.Type = "other" },
		"value event 1 (a) id":               func(ev *transcript.Event) { ev.ID = "7" },
		"value event 1 (a) retry":            func(ev *transcript.Event) { ev.Retry = "100" },
	}
	for want, f := range change {
		ref, cand := newSide("ref").stream("bus", `a 1`), newSide("cand").stream("bus", `a 1`)
		f(&cand.t.Streams[0].Events[0])
		if diff := cmp.Diff([]string{want}, kinds(compared(ref, cand, nil))); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
		}
	}
	ref, cand := newSide("ref").stream("bus", `a 1`), newSide("cand").stream("bus", `a 1`)
	cand.t.Streams[0].Events[0].Type = "message" // a browser assumes this type when the field is missing
	if got := kinds(compared(ref, cand, nil)); got != nil {
		t.Errorf("event: message against none: %v, want none", got)
	}
}

func TestAnEventWithoutDataIsNoOtherEvent(t *testing.T) {
	for _, tc := range []struct {
		name      string
		ref, cand transcript.Event
		want      []string
	}{
		{"the candidate's has none", transcript.Event{Name: "a", Type: "a", Data: `{"x":1}`}, transcript.Event{Type: "a", Undispatched: true}, []string{"field-missing event 1 (a) data"}},
		{"the reference's has none", transcript.Event{Type: "a", Undispatched: true}, transcript.Event{Name: "a", Type: "a", Data: `{"x":1}`}, []string{"field-extra event 1 (a) data"}},
		{"empty data is data", transcript.Event{Name: "a", Type: "a"}, transcript.Event{Type: "a", Undispatched: true}, []string{"field-missing event 1 (a) data"}},
		{"neither has any", transcript.Event{Type: "a", Undispatched: true}, transcript.Event{Type: "a", Undispatched: true}, nil},
		{"a block that is no event", transcript.Event{Name: "a", Type: "a", Data: "1"}, transcript.Event{ID: "7", Undispatched: true}, []string{"event-missing event 1 (a)", "event-extra event 1 (a block without data)"}},
	} {
		ref, cand := newSide("ref").stream("bus"), newSide("cand").stream("bus")
		ref.t.Streams[0].Events, cand.t.Streams[0].Events = []transcript.Event{tc.ref}, []transcript.Event{tc.cand}
		if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestWhoEndsAStream(t *testing.T) {
	ref, cand := newSide("ref").stream("bus"), newSide("cand").stream("bus")
	cand.t.Streams[0].Ended = transcript.EndedByServer
	if diff := cmp.Diff([]string{"stream-end end"}, kinds(compared(ref, cand, nil))); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestABurstIsComparedWithoutOrder(t *testing.T) {
	burst := func(target string, statuses ...int) side {
		s := newSide(target)
		step := transcript.Step{ID: "1", Burst: true}
		for _, status := range statuses {
			step.Exchanges = append(step.Exchanges, &transcript.Exchange{Response: &transcript.Response{Status: status}})
		}
		s.t.Steps = append(s.t.Steps, step)
		return s
	}
	if got := kinds(compared(burst("ref", 200, 404, 404), burst("cand", 404, 200, 404), nil)); got != nil {
		t.Errorf("another order: %v, want none", got)
	}
	if got := kinds(compared(burst("ref", 200, 404, 404), burst("cand", 404, 200, 200), nil)); len(got) != 1 {
		t.Errorf("another status: %v, want one difference", got)
	}
}

func TestOutcomesOfACancelledExchange(t *testing.T) {
	closed, canceled := &transcript.Failure{Kind: transcript.FailClosed, Text: "closed"}, &transcript.Failure{Kind: transcript.FailCanceled}
	for _, tc := range []struct {
		name      string
		ref, cand *transcript.Failure
		want      []string
	}{
		{"both are let go", closed, closed, nil},
		{"both wait", canceled, canceled, nil},
		{"one is let go, one waits", closed, canceled, nil}, // that depends on timing
		{"one is answered, one waits", nil, canceled, nil},
		{"one is answered, one is let go", nil, closed, []string{"status status"}},
	} {
		ref, cand := newSide("ref").answers(`1`), newSide("cand").answers(`1`)
		ref.t.Steps[0].Kind, ref.t.Steps[0].Exchanges[0].Failure = "close", tc.ref
		cand.t.Steps[0].Kind, cand.t.Steps[0].Exchanges[0].Failure = "close", tc.cand
		if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// What came before the scenario gave a request up does not depend on timing.
func TestARequestThatIsCancelledAfterItsAnswer(t *testing.T) {
	closed, canceled := &transcript.Failure{Kind: transcript.FailClosed}, &transcript.Failure{Kind: transcript.FailCanceled}
	for _, tc := range []struct {
		name, step string
		done       time.Duration
		ref, cand  *transcript.Failure
		want       []string
	}{
		{"only the reference answers", "4", time.Second, nil, canceled, []string{"status status"}},
		{"only the candidate answers", "4", time.Second, canceled, nil, []string{"status status"}},
		{"only the reference lets go", "4", time.Second, closed, canceled, []string{"status status"}},
		{"none answers", "4", time.Second, canceled, canceled, nil},
		{"it comes while the scenario hangs up", "4", 5 * time.Second, nil, canceled, nil},
		{"a branch does not wait for the other target", "4.left.1", time.Second, nil, canceled, nil},
	} {
		ref, cand := newSide("ref").answers(`1`), newSide("cand").answers(`1`)
		for i, f := range []*transcript.Failure{tc.ref, tc.cand} {
			s := &[]side{ref, cand}[i].t.Steps[0]
			s.ID, s.Kind, s.At, s.Exchanges[0].Failure, s.Exchanges[0].Done = tc.step, "close", 5*time.Second, f, 5*time.Second+time.Millisecond
			if f != canceled {
				s.Exchanges[0].Done = tc.done
			}
		}
		if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestLongValuesAreCutAroundTheirDifference(t *testing.T) {
	before, behind := strings.Repeat("é", 3000), strings.Repeat("z", 5000)
	ref := newSide("ref").answers(`"` + before + `1` + behind + `"`)
	cand := newSide("cand").answers(`"` + before + `2` + behind + `"`)
	got := compared(ref, cand, nil).Differences
	if len(got) != 1 {
		t.Fatalf("differences %+v, want one", got)
	}
	want := "[5001 bytes cut] …" + strings.Repeat("é", 500) + "2" + strings.Repeat("z", 999) + "… [4002 bytes cut]"
	if diff := cmp.Diff(want, got[0].Cand.String()); diff != "" {
		t.Errorf("the candidate's value (-want +got):\n%s", diff)
	}
	if ref := strings.Replace(want, "2z", "1z", 1); got[0].Ref.String() != ref {
		t.Errorf("the reference's value is cut elsewhere: %s", got[0].Ref.String())
	}
}

func TestADefectOfOneSideIsADifference(t *testing.T) {
	const sound = `{"a":{"ses_0a1b2c3d4e5f":"x"}}`
	for _, tc := range []struct {
		name      string
		ref, cand string
		want      []string
	}{
		{"text behind it", sound, sound + "null", []string{"body-not-json body"}},
		{"a byte order mark", sound, "\xef\xbb\xbf" + sound, []string{"body-not-json body"}},
		{"a byte order mark of the reference", "\xef\xbb\xbf" + sound, sound, []string{"body-not-json body"}},
		{"a name twice", `{"a":1}`, `{"a":0,"a":1}`, []string{"body-not-json body"}},
		{"bytes that are no UTF-8", "{\"a\":\"\ufffd\"}", "{\"a\":\"\xff\"}", []string{"body-not-json body"}},
		{"another value as well", `{"a":1}`, `{"a":2} {}`, []string{"value body /a"}}, // this one is enough
		{"the same defect on both sides", sound + "1", strings.Replace(sound, "0a1b2c3d4e5f", "1a2b3c4d5e6f", 1) + "1", nil},
		{"text behind both, and not the same", sound + "1", sound + "2", []string{"body-not-json body"}},
		{"a name twice, below a made-up name", `{"ses_0a1b2c3d4e5f":{"x":1,"x":1}}`, `{"ses_1a2b3c4d5e6f":{"x":1,"x":1}}`, nil},
	} {
		if diff := cmp.Diff(tc.want, kinds(compared(newSide("ref").answers(tc.ref), newSide("cand").answers(tc.cand), nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestWhatIsNotComparedIsCounted(t *testing.T) {
	ref := newSide("ref").answers(`1`, `2`, `3`).stream("bus", `ping `).stream("other", `a 1`)
	cand := newSide("cand").answers(`1`, `2`, `3`).stream("bus")
	ref.t.Steps[0].Uncompared, cand.t.Steps[0].Uncompared = true, true
	cand.t.Steps[1].Skipped = "x has no value"
	cand.t.Steps[2].Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailReset}
	got := compared(ref, cand, &Rules{Streams: map[string]streamdiff.Rules{"bus": {Heartbeat: &streamdiff.Heartbeat{Event: "ping"}}}})
	want := Result{NotCompared: map[string]int{
		"the scenario says so":                            1,
		"not done by both targets":                        1,
		"an exchange that failed":                         1,
		"heartbeats, which are checked for their cadence": 1,
		"not opened by both targets":                      1,
	}, Applied: map[string]bool{"stream bus": true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}
