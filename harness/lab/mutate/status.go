package mutate

import (
	"bytes"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// statusOperators respond with another status. Headers and body are unchanged.
var statusOperators = []Operator{
	status("class", "It fails where it should succeed, or succeeds where it should fail", func(n int) int {
		if n/100 == 2 {
			return 500
		}
		return 200
	}),
	status("neighbour", "It answers with the next status of the same class", func(n int) int {
		if n%100 == 99 {
			return n - 1
		}
		return n + 1
	}),
	status("redirect", "It redirects the client", func(int) int { return 302 }),
	status("general", "It answers with the general status of the class: 200, 400, 500", func(n int) int { return n / 100 * 100 }),
	status("unavailable", "It reports that it is busy", func(int) int { return 503 }),
}

func status(name, doc string, change func(int) int) Operator {
	return eachResponse("status", name, doc, func(_ *Subject, r *response, yield emit) {
		was := r.x.Response.Status
		if after := change(was); after != was {
			yield(r.mutant("status", strconv.Itoa(was), strconv.Itoa(after), func(x *transcript.Exchange) { x.Response.Status = after }))
		}
	})
}

// errorOperators confuse errors.
var errorOperators = []Operator{
	errorBody("other", "It answers with another error of the same scenario", func(s *Subject, r *response) []byte {
		for other := range s.responses() {
			if other.x.Response.Status >= 400 && !bytes.Equal(other.body(), r.body()) && other.body() != nil {
				return other.body()
			}
		}
		return nil
	}),
	errorBody("general", "It answers with an error without details", func(*Subject, *response) []byte {
		return []byte(`{"error":"Internal Server Error"}`)
	}),
	errorBody("none", "It answers with an error that is empty", func(*Subject, *response) []byte { return []byte("{}") }),
	errorBody("page", "It answers with the error page of its framework", func(*Subject, *response) []byte {
		return []byte("<html><body>Internal Server Error</body></html>")
	}),
	eachValue("error", "text", "It reports more about an error than it should", func(_ *Subject, v *value, yield emit) {
		if v.doc.isError && v.is(jsontree.String, fixed) {
			yield(v.set(quoted(v.node.Text + ": EOF")))
		}
	}),
	eachResponse("error", "hidden", "It reports an error as a success", func(_ *Subject, r *response, yield emit) {
		if r.x.Response.Status >= 400 {
			yield(r.mutant("status and body", excerpt(string(r.body())), `200 {"success":true}`, func(x *transcript.Exchange) {
				x.Response.Status = 200
				setBody(x.Response, []byte(`{"success":true}`))
			}))
		}
	}),
}

// errorBody makes an operator from a function that returns the body of another error, or nil.
func errorBody(name, doc string, change func(s *Subject, r *response) []byte) Operator {
	return eachResponse("error", name, doc, func(s *Subject, r *response, yield emit) {
		if r.x.Response.Status < 400 || r.x.Response.Body.IsZero() || r.st.Burst {
			return
		}
		if after := change(s, r); after != nil && !bytes.Equal(after, r.body()) {
			yield(r.withBody(after))
		}
	})
}
