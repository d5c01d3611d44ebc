package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// asks returns a request to an upstream with a JSON body.
func asks(text string, header ...transcript.Field) *transcript.Exchange {
	h := append(transcript.Header{{Name: "Content-Type", Value: "application/json"}}, header...)
	return &transcript.Exchange{
		Request:  transcript.Request{Method: "POST", Target: "/v1/chat/completions", Header: h, Body: transcript.Body{Bytes: []byte(text), Size: int64(len(text))}},
		Response: &transcript.Response{Status: 200},
	}
}

// asking returns a target that responded with an id, and sent requests to an upstream that one rule answered.
func asking(id string, xs ...*transcript.Exchange) *transcript.Transcript {
	answer := `{"id":"` + id + `"}`
	return &transcript.Transcript{
		Steps: []transcript.Step{{ID: "1", Exchanges: []*transcript.Exchange{{
			Request:  transcript.Request{Method: "POST", Target: "/sessions"},
			Response: &transcript.Response{Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: "application/json"}}, Body: transcript.Body{Bytes: []byte(answer), Size: int64(len(answer))}},
		}}}},
		Upstream: []transcript.Step{{ID: "llm.answer", Kind: "upstream", Exchanges: xs}},
	}
}

// sent returns a target that sent a message to an MCP server.
func sent(server, method, params string) *transcript.Transcript {
	x := asks(params)
	x.Request.Method, x.Request.Target = transcript.MCP, method
	return &transcript.Transcript{Upstream: []transcript.Step{{ID: server + "." + method, Kind: "upstream", Exchanges: []*transcript.Exchange{x}}}}
}

func mcpRule(of string) Rules {
	return Rules{MCP: map[string][]jsondiff.Volatile{of: {{At: "$.a", Kind: jsondiff.Text}}}}
}

const ours, theirs, stray, late = "ses_0f3a9b21c7d4e6", "ses_91bd04e7a2c35f", "ses_77aa04e7a2c311", "ses_5c1e04e7a2c3b9"

// bothOf is asking for a target that responded with two ids.
func bothOf(id, other string, xs ...*transcript.Exchange) *transcript.Transcript {
	t := asking(id, xs...)
	body := &t.Steps[0].Exchanges[0].Response.Body
	body.Bytes = []byte(`{"id":"` + id + `","other":"` + other + `"}`)
	return t
}

func TestRequestsToUpstreams(t *testing.T) {
	key := transcript.Field{Name: "Authorization", Value: "Bearer k"}
	hangs := func(gone bool) *transcript.Exchange {
		x := asks(`{}`)
		if x.Hangs = true; gone {
			x.Failure = &transcript.Failure{Kind: transcript.FailCanceled, Text: "the target hung up"}
		}
		return x
	}
	other := func(change func(*transcript.Request)) *transcript.Exchange {
		x := asks(`{"a":1}`)
		change(&x.Request)
		return x
	}
	free := func(t *transcript.Transcript) *transcript.Transcript {
		t.Upstream[0].Unordered = true
		return t
	}
	for _, tc := range []struct {
		name      string
		ref, cand *transcript.Transcript
		rules     Rules
		want      []string
	}{
		{"the same", asking(ours, asks(`{"a":1.0}`)), asking(theirs, asks(`{ "a" : 1e0 }`)), Rules{}, nil},
		{"each with its own id", asking(ours, asks(`{"for":"`+ours+`"}`)), asking(theirs, asks(`{"for":"`+theirs+`"}`)), Rules{}, nil},
		{"with another thing's id", asking(ours, asks(`{"for":"`+ours+`"}`)), asking(theirs, asks(`{"for":"`+stray+`"}`)), Rules{}, []string{"identity request body /for"}},
		{"another value", asking(ours, asks(`{"a":1}`)), asking(theirs, asks(`{"a":2}`)), Rules{}, []string{"value request body /a"}},
		{"a rule for the stub", asking(ours, asks(`{"a":"x"}`)), asking(theirs, asks(`{"a":"y"}`)),
			Rules{Stubs: map[string]Step{"llm": {Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.Text}}}}}, nil},
		{"a rule for another stub", asking(ours, asks(`{"a":"x"}`)), asking(theirs, asks(`{"a":"y"}`)),
			Rules{Stubs: map[string]Step{"other": {Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.Text}}}}}, []string{"value request body /a"}},
		{"a rule for what one rule has answered", asking(ours, asks(`{"a":"x"}`)), asking(theirs, asks(`{"a":"y"}`)),
			Rules{Steps: map[string]Step{"llm.answer": {Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.Text}}}}}, nil},
		{"a rule for all", asking(ours, asks(`{"a":"x"}`)), asking(theirs, asks(`{"a":"y"}`)), Rules{Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.Text}}}, nil},
		{"without the key", asking(ours, asks(`{}`, key)), asking(theirs, asks(`{}`)), Rules{}, []string{"header-missing request header Authorization"}},
		{"without a field that nobody names", asking(ours, asks(`{}`, transcript.Field{Name: "X-Trace", Value: "1"})), asking(theirs, asks(`{}`)), Rules{}, nil},
		{"without a field that is named", asking(ours, asks(`{}`, transcript.Field{Name: "X-Trace", Value: "1"})), asking(theirs, asks(`{}`)),
			Rules{Stubs: map[string]Step{"llm": {Headers: []string{"x-trace"}}}}, []string{"header-missing request header x-trace"}},
		{"another key, where no fields are compared", asking(ours, asks(`{}`, key)), asking(theirs, asks(`{}`)), Rules{Stubs: map[string]Step{"llm": {Headers: []string{}}}}, nil},
		{"with another method", asking(ours, asks(`{"a":1}`)), asking(theirs, other(func(r *transcript.Request) { r.Method = "PUT" })), Rules{}, []string{"value request method"}},
		{"at another place", asking(ours, asks(`{"a":1}`)), asking(theirs, other(func(r *transcript.Request) { r.Target += "?x" })), Rules{}, []string{"value request path"}},
		{"without a body", asking(ours, asks(`{"a":1}`)), asking(theirs, other(func(r *transcript.Request) { r.Body = transcript.Body{} })), Rules{}, []string{"body-not-json request body"}},
		{"twice", asking(ours, asks(`{}`)), asking(theirs, asks(`{}`), asks(`{}`)), Rules{}, []string{"count requests"}},
		{"not at all", asking(ours, asks(`{}`)), &transcript.Transcript{Steps: asking(theirs).Steps}, Rules{}, []string{"count requests"}},
		{"the other way round", asking(ours, asks(`1`), asks(`2`)), asking(theirs, asks(`2`), asks(`1`)), Rules{}, []string{"value request 1 body", "value request 2 body"}},
		{"the other way round, where that does not count", free(asking(ours, asks(`1`), asks(`2`))), free(asking(theirs, asks(`2`), asks(`1`))), Rules{}, nil},
		{"another one, where order does not count", free(asking(ours, asks(`1`), asks(`2`))), free(asking(theirs, asks(`3`), asks(`1`))), Rules{}, []string{"value request 2 body"}},
		{"the other way round, with ids that are bound", free(bothOf(ours, stray, asks(`"`+ours+`"`), asks(`"`+stray+`"`))), free(bothOf(theirs, late, asks(`"`+late+`"`), asks(`"`+theirs+`"`))), Rules{}, nil},
		{"and one with another thing's id", free(bothOf(ours, stray, asks(`"`+ours+`"`), asks(`"`+stray+`"`))), free(bothOf(theirs, late, asks(`"`+late+`"`), asks(`"`+late+`"`))), Rules{}, []string{"identity request 2 body"}},
		{"a rule for a method of all MCP servers", sent("tester", "tools/call", `{"a":"x"}`), sent("tester", "tools/call", `{"a":"y"}`), mcpRule("tools/call"), nil},
		{"a rule for a method of one MCP server", sent("tester", "tools/call", `{"a":"x"}`), sent("tester", "tools/call", `{"a":"y"}`), mcpRule("tester tools/call"), nil},
		{"a rule for another MCP server", sent("tester", "tools/call", `{"a":"x"}`), sent("tester", "tools/call", `{"a":"y"}`), mcpRule("other tools/call"), []string{"value request body /a"}},
		{"a rule for another method of it", sent("tester", "tools/call", `{"a":"x"}`), sent("tester", "tools/call", `{"a":"y"}`), mcpRule("tools/list"), []string{"value request body /a"}},
		{"a rule for a stub of an MCP server's name", sent("llm", "tools/call", `{"a":"x"}`), sent("llm", "tools/call", `{"a":"y"}`),
			Rules{Stubs: map[string]Step{"llm": {Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.Text}}}}}, []string{"value request body /a"}},
		{"a rule for an MCP server of a stub's name", asking(ours, asks(`{"a":"x"}`)), asking(theirs, asks(`{"a":"y"}`)), mcpRule("llm answer"), []string{"value request body /a"}},
		{"what a rule for an MCP server demands", sent("tester", "tools/call", `{"a":"x"}`), sent("tester", "tools/call", `{"a":1}`), mcpRule("tools/call"), []string{"type request body /a"}},
		{"and neither lets go", asking(ours, hangs(false)), asking(theirs, hangs(false)), Rules{}, nil},
		{"and both let go", asking(ours, hangs(true)), asking(theirs, hangs(true)), Rules{}, nil},
		{"and one lets go", asking(ours, hangs(true)), asking(theirs, hangs(false)), Rules{}, []string{"hang-up request end"}},
	} {
		result := Transcripts(nil, tc.ref, tc.cand, &tc.rules)
		var got []string
		for _, d := range result.Differences {
			got = append(got, string(d.Kind)+" "+d.At.String())
			if d.Step != tc.ref.Upstream[0].ID || d.Fingerprint == "" {
				t.Errorf("%s: step %q, fingerprint %q", tc.name, d.Step, d.Fingerprint)
			}
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}

func TestARequestWithoutARuleHasItsOwnReason(t *testing.T) {
	nobody, own := asks(`1`), asks(`2`)
	nobody.Unanswered, own.Unanswered = "nobody knows whose it is", "no rule answers it"
	tr := transcript.Transcript{Upstream: []transcript.Step{{
		ID: "llm.unexpected", Exchanges: []*transcript.Exchange{nobody, own, asks(`3`)},
		Unmet: &transcript.Unmet{Kind: "unexpected", What: "no such request", Why: "as the first"},
	}}}
	var got []string
	for _, s := range AllUnmet(nil, &tr, &Rules{}) {
		got = append(got, strings.TrimPrefix(s.Text, "unexpected request to the upstream: "))
	}
	if d := cmp.Diff([]string{"nobody knows whose it is", "no rule answers it", "as the first"}, got); d != "" {
		t.Errorf("reasons (-want +got):\n%s", d)
	}
}

func TestRequiredAndForbiddenRequestsToUpstreams(t *testing.T) {
	missing := &transcript.Unmet{Kind: "upstream", What: "a request", Why: "none came"}
	unexpected := &transcript.Unmet{Kind: "unexpected", What: "no such request", Why: "no rule answers it"}
	broken := asks(`{}`)
	broken.Failure = &transcript.Failure{Kind: transcript.FailClosed, Text: "the request broke"}
	for _, tc := range []struct {
		name string
		t    transcript.Transcript
		want []string
	}{
		{"a request that is missing", transcript.Transcript{Upstream: []transcript.Step{{ID: "llm.a", Unmet: missing}}}, []string{"upstream-missing requests: none came"}},
		{"of a target that has ended", transcript.Transcript{Exit: &transcript.Exit{Status: "exit status 1"}, Upstream: []transcript.Step{{ID: "llm.a", Unmet: missing}}}, []string{"target-exited process: exit status 1"}},
		{"that a step has waited for", transcript.Transcript{
			Steps:    []transcript.Step{{ID: "1", Kind: "asked", Text: "asked llm.a", Unmet: &transcript.Unmet{Kind: "asked", What: "a request", Why: "none came: it was over"}}},
			Upstream: []transcript.Step{{ID: "llm.a", Unmet: missing}},
		}, []string{"upstream-missing asked: none came: it was over"}},
		{"two that nothing answers", transcript.Transcript{Upstream: []transcript.Step{{ID: "llm.unexpected", Unmet: unexpected, Exchanges: []*transcript.Exchange{asks(`1`), asks(`2`)}}}},
			[]string{"upstream-unexpected request 1: POST /v1/chat/completions 1", "upstream-unexpected request 2: POST /v1/chat/completions 2"}},
		{"one that broke", transcript.Transcript{Upstream: []transcript.Step{{ID: "llm.unexpected", Unmet: unexpected, Exchanges: []*transcript.Exchange{broken}}}},
			[]string{"exchange-failed request 1: the request broke"}},
	} {
		var got []string
		for _, s := range AllUnmet(nil, &tc.t, &Rules{}) {
			got = append(got, string(s.Kind)+" "+s.Place+": "+s.Got)
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}
