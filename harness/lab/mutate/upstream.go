package mutate

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// What a target sends to its upstreams is changed like its responses: the bodies of its requests are documents for all
// operators. These operators change the rest of a request, as a server with one mistake would.
var upstreamOperators = []Operator{
	eachRequest("forgotten", "It does not call its upstream", func(_ *Subject, r *request, yield emit) {
		yield(r.withRequests("asked", "not asked", func(all []*transcript.Exchange) []*transcript.Exchange {
			return slices.Delete(all, r.index, r.index+1)
		}))
	}),
	eachRequest("twice", "It calls its upstream twice", func(_ *Subject, r *request, yield emit) {
		yield(r.withRequests("asked once", "asked twice", func(all []*transcript.Exchange) []*transcript.Exchange {
			return slices.Insert(all, r.index, all[r.index])
		}))
	}),
	eachRequest("swapped", "It swaps two requests to its upstream", func(_ *Subject, r *request, yield emit) {
		if r.st.Unordered || r.index == 0 || equalRequests(&r.st.Exchanges[r.index-1].Request, &r.x.Request) {
			return
		}
		yield(r.withRequests("this question last", "this question first", func(all []*transcript.Exchange) []*transcript.Exchange {
			all[r.index-1], all[r.index] = all[r.index], all[r.index-1]
			return all
		}))
	}),
	changeRequest("method", "It calls its upstream with another method", false, func(r *transcript.Request) (before, after string) {
		before = r.Method
		if r.Method = "POST"; before == "POST" {
			r.Method = "PUT"
		}
		return before, r.Method
	}),
	changeRequest("path", "It calls its upstream at another path", false, func(r *transcript.Request) (before, after string) {
		before = r.Target
		path, query, has := strings.Cut(r.Target, "?")
		if r.Target = path + "/x"; has {
			r.Target += "?" + query
		}
		return before, r.Target
	}),
	changeRequest("query", "It adds a query parameter to its request upstream", false, func(r *transcript.Request) (before, after string) {
		before = r.Target
		if r.Target += "?x=1"; strings.Contains(before, "?") {
			r.Target = before + "&x=1"
		}
		return before, r.Target
	}),
	changeRequest("no-body", "It calls its upstream without a body", false, func(r *transcript.Request) (before, after string) {
		before = string(r.Body.Bytes)
		r.Body = transcript.Body{}
		return before, ""
	}),
	changeRequestField("header-missing", "It calls its upstream without a header field", func(f transcript.Field) []transcript.Field { return nil }),
	changeRequestField("header-value", "It calls its upstream with another value of a header field", func(f transcript.Field) []transcript.Field {
		return []transcript.Field{{Name: f.Name, Value: f.Value + "x"}}
	}),
}

// mcpOperators change what a target sends to an MCP server. That is only a method and parameters.
var mcpOperators = []Operator{
	changeRequest("mcp-method", "It sends an MCP server a message with another method", true, func(r *transcript.Request) (before, after string) {
		before = r.Target
		r.Target += "x"
		return before, r.Target
	}),
	changeRequest("mcp-bare", "It sends an MCP server a message without parameters", true, func(r *transcript.Request) (before, after string) {
		before = string(r.Body.Bytes)
		r.Body = newBody([]byte("{}"))
		return before, "{}"
	}),
}

func equalRequests(a, b *transcript.Request) bool {
	return a.Method == b.Method && a.Target == b.Target && string(a.Body.Bytes) == string(b.Body.Bytes)
}

// changeRequest makes an operator that changes messages to MCP servers, or HTTP requests.
func changeRequest(name, doc string, toMCP bool, change func(*transcript.Request) (before, after string)) Operator {
	return eachRequest(name, doc, func(_ *Subject, r *request, yield emit) {
		if r.st.ToMCP() != toMCP {
			return
		}
		changed := r.x.Request
		if before, after := change(&changed); before != after {
			was, is := excerpts(before, after)
			yield(r.mutant(name, was, is, func(out *transcript.Request) { *out = changed }))
		}
	})
}

// changeRequestField makes an operator that replaces header fields of a request that rules name.
func changeRequestField(name, doc string, change func(transcript.Field) []transcript.Field) Operator {
	return eachRequest(name, doc, func(_ *Subject, r *request, yield emit) {
		for i, f := range r.x.Request.Header {
			if r.st.ToMCP() || !r.compares(f.Name) {
				continue
			}
			fields := change(f)
			yield(r.mutant("header "+f.Name, excerpt(f.Value), excerpt(fieldValues(fields)), func(out *transcript.Request) {
				out.Header = replaceField(out.Header, i, fields...)
			}))
		}
	})
}
