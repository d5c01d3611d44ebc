package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// What a target sends to its upstreams is changed like its responses: the bodies of its requests are documents for all
// operators. These operators change the rest of a request, as a server with one mistake would. What a target sends to an
// MCP server is only a method and parameters.
var upstreamOperators = []Operator{
	changeRequests("forgotten", "It does not call its upstream", "asked", "not asked", anyRequest, func(all []*transcript.Exchange, i int) []*transcript.Exchange {
		return slices.Delete(all, i, i+1)
	}),
	changeRequests("twice", "It calls its upstream twice", "asked once", "asked twice", anyRequest, func(all []*transcript.Exchange, i int) []*transcript.Exchange {
		return slices.Insert(all, i, all[i])
	}),
	changeRequests("swapped", "It swaps two requests to its upstream", "this question last", "this question first", followsAnother, func(all []*transcript.Exchange, i int) []*transcript.Exchange {
		all[i-1], all[i] = all[i], all[i-1]
		return all
	}),
	changeRequest("method", "It calls its upstream with another method", false, method, func(was string) string {
		if was == "POST" {
			return "PUT"
		}
		return "POST"
	}),
	changeRequest("path", "It calls its upstream at another path", false, target, func(was string) string {
		path, query, has := strings.Cut(was, "?")
		if has {
			query = "?" + query
		}
		return path + "/x" + query
	}),
	changeRequest("query", "It adds a query parameter to its request upstream", false, target, func(was string) string {
		if strings.Contains(was, "?") {
			return was + "&x=1"
		}
		return was + "?x=1"
	}),
	changeRequestBody("no-body", "It calls its upstream without a body", false, ""),
	changeRequestField("header-missing", "It calls its upstream without a header field", func(string) []string { return nil }),
	changeRequestField("header-value", "It calls its upstream with another value of a header field", func(v string) []string { return []string{v + "x"} }),
	changeRequest("mcp-method", "It sends an MCP server a message with another method", true, target, func(was string) string { return was + "x" }),
	changeRequestBody("mcp-bare", "It sends an MCP server a message without parameters", true, "{}"),
}

func anyRequest(*exchange) bool { return true }

// followsAnother reports whether a request must come after the previous one, which is another one.
func followsAnother(e *exchange) bool {
	if e.st.Unordered || e.index == 0 {
		return false
	}
	a, b := &e.st.Exchanges[e.index-1].Request, &e.x.Request
	return a.Method != b.Method || a.Target != b.Target || string(a.Body.Bytes) != string(b.Body.Bytes)
}

// changeRequests makes an operator that changes which requests a rule of a stub has answered. change gets the index of
// the request that it is about.
func changeRequests(name, doc, before, after string, is func(*exchange) bool, change func(all []*transcript.Exchange, i int) []*transcript.Exchange) Operator {
	return each("upstream", name, doc, filter((*Subject).requests, is), func(e *exchange, yield emit) {
		yield(e.s.mutant(e.site(), e.where, before, after, func(t *transcript.Transcript) {
			st := e.stepIn(t)
			st.Exchanges = change(st.Exchanges, e.index)
		}))
	})
}

func method(r *transcript.Request) *string { return &r.Method }
func target(r *transcript.Request) *string { return &r.Target }

// changeRequest makes an operator that changes a part of messages to MCP servers, or of HTTP requests.
func changeRequest(name, doc string, toMCP bool, part func(*transcript.Request) *string, change func(was string) string) Operator {
	return each("upstream", name, doc, (*Subject).requests, func(e *exchange, yield emit) {
		if e.st.ToMCP() != toMCP {
			return
		}
		after := change(*part(&e.x.Request))
		before, is := excerpts(*part(&e.x.Request), after)
		yield(e.mutant(name, before, is, func(x *transcript.Exchange) { *part(&x.Request) = after }))
	})
}

// changeRequestBody makes an operator that sends another body; "" for none.
func changeRequestBody(name, doc string, toMCP bool, after string) Operator {
	return each("upstream", name, doc, (*Subject).requests, func(e *exchange, yield emit) {
		was := string(e.x.Request.Body.Bytes)
		if e.st.ToMCP() != toMCP || was == after {
			return
		}
		before, is := excerpts(was, after)
		yield(e.mutant(name, before, is, func(x *transcript.Exchange) { x.Request.Body = newBody([]byte(after)) }))
	})
}

// changeRequestField makes an operator that replaces header fields of a request that rules name.
func changeRequestField(name, doc string, change func(value string) []string) Operator {
	return each("upstream", name, doc, (*Subject).requests, func(e *exchange, yield emit) {
		for i, f := range e.x.Request.Header {
			if e.st.ToMCP() || !transcript.ContainsName(e.s.Rules.UpstreamHeaders(e.stub(), e.st.ID), f.Name) {
				continue
			}
			values := change(f.Value)
			yield(e.mutant("header "+f.Name, excerpt(f.Value), excerpt(strings.Join(values, " | ")), func(x *transcript.Exchange) {
				x.Request.Header = replaceField(x.Request.Header, i, values...)
			}))
		}
	})
}
