package mutate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// What a target asks its upstreams is changed like what it answers: the bodies of its requests are among the documents
// that all operators go through, and these do to the rest of a request what a port with one mistake would do.
var upstreamOperators = []Operator{
	operator("upstream", "forgotten", "It does not ask its upstream", func(s *Subject, _ uint64, yield emit) {
		s.questions(func(q *question) bool {
			return yield(q.sequence("asked", "not asked", func(all []*transcript.Exchange) []*transcript.Exchange {
				return slices.Delete(all, q.index, q.index+1)
			}))
		})
	}),
	operator("upstream", "twice", "It asks its upstream twice", func(s *Subject, _ uint64, yield emit) {
		s.questions(func(q *question) bool {
			return yield(q.sequence("asked once", "asked twice", func(all []*transcript.Exchange) []*transcript.Exchange {
				return slices.Insert(all, q.index, all[q.index])
			}))
		})
	}),
	operator("upstream", "swapped", "It asks its upstream two questions the wrong way round", func(s *Subject, _ uint64, yield emit) {
		s.questions(func(q *question) bool {
			all := q.st.Exchanges
			if q.st.Unordered || q.index == 0 || s.alike(&all[q.index-1].Request, &q.x.Request) {
				return true
			}
			return yield(q.sequence("this question last", "this question first", func(all []*transcript.Exchange) []*transcript.Exchange {
				all[q.index-1], all[q.index] = all[q.index], all[q.index-1]
				return all
			}))
		})
	}),
	request("method", "It asks with another method", func(r *transcript.Request) (before, after string) {
		before = r.Method
		if r.Method = "POST"; before == "POST" {
			r.Method = "PUT"
		}
		return before, r.Method
	}),
	request("path", "It asks at another place", func(r *transcript.Request) (before, after string) {
		before = r.Target
		path, query, has := strings.Cut(r.Target, "?")
		if r.Target = path + "/x"; has {
			r.Target += "?" + query
		}
		return before, r.Target
	}),
	request("query", "It adds a parameter to its question", func(r *transcript.Request) (before, after string) {
		before = r.Target
		if r.Target += "?x=1"; strings.Contains(before, "?") {
			r.Target = before + "&x=1"
		}
		return before, r.Target
	}),
	request("no-body", "It asks without a body", func(r *transcript.Request) (before, after string) {
		before = string(r.Body.Bytes)
		r.Body = transcript.Body{}
		return before, ""
	}),
	requestField("header-missing", "It asks without a header field", func(string) (string, bool) { return "", false }),
	requestField("header-value", "It asks with another value of a header field", func(v string) (string, bool) { return v + "x", true }),
}

// mcpOperators do so to what a target sends to an MCP server, of which there is a method and parameters, and no more.
var mcpOperators = []Operator{
	toMCP("mcp-method", "It sends an MCP server something by another method", func(r *transcript.Request) (before, after string) {
		before = r.Target
		r.Target += "x"
		return before, r.Target
	}),
	toMCP("mcp-bare", "It sends an MCP server no parameters", func(r *transcript.Request) (before, after string) {
		before = string(r.Body.Bytes)
		r.Body = body([]byte("{}"))
		return before, "{}"
	}),
}

// A question is a request of the candidate to an upstream.
type question struct {
	s           *Subject
	step, index int
	st          *transcript.Step
	x           *transcript.Exchange
}

func (q *question) where() string {
	if len(q.st.Exchanges) > 1 {
		return fmt.Sprintf("%s request %d", q.st.Text, q.index+1)
	}
	return q.st.Text + " request"
}

// stub returns the name of the upstream.
func (q *question) stub() string {
	name, _, _ := strings.Cut(q.st.ID, ".")
	return name
}

// questions calls f with every request to an upstream that came in one piece, until it returns false.
func (s *Subject) questions(f func(*question) bool) {
	for i := range s.Candidate.Upstream {
		st := &s.Candidate.Upstream[i]
		for k, x := range st.Exchanges {
			if !f(&question{s, i, k, st, x}) {
				return
			}
		}
	}
}

// other returns the reference's request in the place of this one; nil where there is none, or where nobody knows which.
func (q *question) other() *transcript.Request {
	for i := range q.s.Reference.Upstream {
		if ref := &q.s.Reference.Upstream[i]; ref.ID == q.st.ID && !q.st.Unordered && q.index < len(ref.Exchanges) {
			return &ref.Exchanges[q.index].Request
		}
	}
	return nil
}

// sequence is a mutant in which other requests are sent.
func (q *question) sequence(before, after string, change func([]*transcript.Exchange) []*transcript.Exchange) Mutant {
	return Mutant{
		Place: q.where(), Before: before, After: after, site: site{step: q.st.ID},
		Build: func() *transcript.Transcript {
			return q.s.withUpstream(q.step, func(st *transcript.Step) { st.Exchanges = change(slices.Clone(st.Exchanges)) })
		},
	}
}

// with returns a transcript in which the request is another. Its header may not be changed in place.
func (q *question) with(change func(*transcript.Request)) *transcript.Transcript {
	return q.s.withUpstream(q.step, func(st *transcript.Step) {
		st.Exchanges = slices.Clone(st.Exchanges)
		x := *st.Exchanges[q.index]
		change(&x.Request)
		st.Exchanges[q.index] = &x
	})
}

// withUpstream returns a copy of the candidate's transcript in which what one rule of a stub has answered is another.
func (s *Subject) withUpstream(step int, change func(*transcript.Step)) *transcript.Transcript {
	t := *s.Candidate
	t.Upstream = slices.Clone(t.Upstream)
	change(&t.Upstream[step])
	return &t
}

// alike reports whether two requests say the same to who knows no ids.
func (s *Subject) alike(a, b *transcript.Request) bool {
	return a.Method == b.Method && a.Target == b.Target && string(a.Body.Bytes) == string(b.Body.Bytes)
}

// request makes an operator that changes a request of HTTP.
func request(name, doc string, change func(*transcript.Request) (before, after string)) Operator {
	return asking(name, doc, false, change)
}

// toMCP makes an operator that changes what is sent to an MCP server.
func toMCP(name, doc string, change func(*transcript.Request) (before, after string)) Operator {
	return asking(name, doc, true, change)
}

func asking(name, doc string, mcp bool, change func(*transcript.Request) (before, after string)) Operator {
	return operator("upstream", name, doc, func(s *Subject, _ uint64, yield emit) {
		s.questions(func(q *question) bool {
			if q.st.ToMCP() != mcp {
				return true
			}
			changed := q.x.Request
			before, after := change(&changed)
			if before == after {
				return true
			}
			was, is := contrast(before, after)
			return yield(Mutant{
				Place: q.where() + " " + name, Before: was, After: is, site: site{step: q.st.ID},
				Build: func() *transcript.Transcript { return q.with(func(r *transcript.Request) { *r = changed }) },
			})
		})
	})
}

// requestField makes an operator that changes the header fields of a request that rules name.
func requestField(name, doc string, change func(value string) (after string, there bool)) Operator {
	return operator("upstream", name, doc, func(s *Subject, _ uint64, yield emit) {
		s.questions(func(q *question) bool {
			for i, f := range q.x.Request.Header {
				if q.st.ToMCP() || !q.compares(f.Name) {
					continue
				}
				after, there := change(f.Value)
				var fields []transcript.Field
				if there {
					fields = []transcript.Field{{Name: f.Name, Value: after}}
				}
				if !yield(Mutant{
					Place: q.where() + " header " + f.Name, Before: shown(f.Value), After: shown(after), site: site{step: q.st.ID},
					Build: func() *transcript.Transcript {
						return q.with(func(r *transcript.Request) { r.Header = replaced(r.Header, i, fields...) })
					},
				}) {
					return false
				}
			}
			return true
		})
	})
}

// compares reports whether a header field of the request is compared.
func (q *question) compares(name string) bool {
	return slices.ContainsFunc(q.s.Rules.QuestionHeaders(q.stub(), q.st.ID), func(n string) bool { return strings.EqualFold(n, name) })
}

// asked adds the bodies of requests to the documents.
func (s *Subject) asked() {
	s.questions(func(q *question) bool {
		if !isJSON(q.x.Request.Header) || len(q.x.Request.Body.Bytes) == 0 {
			return true
		}
		d := &document{
			s: s, where: q.where() + " body", data: q.x.Request.Body.Bytes, seen: seen(s.Candidate, q.x.Sent), site: site{step: q.st.ID},
			upstream: q.stub(), rules: s.Rules.OfQuestions(q.st),
			put: func(data []byte) *transcript.Transcript {
				return q.with(func(r *transcript.Request) { r.Body = body(data) })
			},
		}
		var ref []byte
		if other := q.other(); other != nil {
			ref = other.Body.Bytes
		}
		s.take(d, ref)
		return true
	})
}
