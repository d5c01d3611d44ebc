package run

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/stdio"
)

// matches reports whether a rule answers a request. A rule that needs a value which is not captured yet matches no
// request.
func (u *upstream) matches(when *scenario.When, r *transcript.Request, chat *stub.Chat) bool {
	if when.Path == nil && (u.collector != nil || u.stub.Kind().Chats() && !u.stub.Kind().IsChat(r)) {
		return false
	}
	return u.matchesArgs(when.Args, r) && u.matchesLine(when, r) && u.matchesChat(when, chat) && u.meetsDemands(when.Demands, r)
}

// matchesArgs compares the arguments of a started program.
func (u *upstream) matchesArgs(want []scenario.Template, r *transcript.Request) bool {
	if want == nil {
		return true
	}
	var start stdio.Start
	if r.Method != transcript.Start || json.Unmarshal(r.Body.Bytes, &start) != nil || len(start.Args) != len(want) {
		return false
	}
	for i := range want {
		if text, err := want[i].Text(&u.run.values, nil); err != nil || text != start.Args[i] {
			return false
		}
	}
	return true
}

// matchesLine compares the method, the path and the query.
func (u *upstream) matchesLine(when *scenario.When, r *transcript.Request) bool {
	path, query, _ := strings.Cut(r.Target, "?")
	if when.Path != nil {
		want, err := when.Path.Text(&u.run.values, scenario.EscapePath)
		if err != nil || want != path || when.Method != r.Method {
			return false
		}
	}
	given, _ := url.ParseQuery(query) // an invalid query is compared as far as it parses
	for _, p := range when.Query {
		want, err := p.Value.Text(&u.run.values, nil)
		if err != nil || !slices.Contains(given[p.Name], want) {
			return false
		}
	}
	return true
}

// matchesChat compares what a request says to a model.
func (u *upstream) matchesChat(when *scenario.When, chat *stub.Chat) bool {
	if when.Stream != nil && *when.Stream != chat.Stream || when.Result != nil && chat.Result == nil {
		return false
	}
	holds := func(t *scenario.Template, in func(want string) bool) bool {
		if t == nil {
			return true
		}
		want, err := t.Text(&u.run.values, nil)
		return err == nil && in(want)
	}
	within := func(text string) func(string) bool {
		return func(want string) bool { return strings.Contains(text, want) }
	}
	return holds(when.Last, within(chat.Last)) && holds(when.Result, within(chat.Last)) && holds(when.System, within(chat.System)) &&
		holds(when.Tool, func(want string) bool { return slices.Contains(chat.Tools, want) }) &&
		holds(when.Model, func(want string) bool { return want == chat.Model })
}

// meetsDemands compares header fields and the body, by the same rules as for responses.
func (u *upstream) meetsDemands(e *scenario.Expect, r *transcript.Request) bool {
	if e == nil {
		return true
	}
	want, err := fillExpect(e, &u.run.values)
	if err != nil {
		return false
	}
	as := &transcript.Exchange{Response: &transcript.Response{Header: r.Header, Body: r.Body}}
	return len(match.Exchange(want, as)) == 0
}
