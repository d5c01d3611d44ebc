package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/coding"
)

// A body in content codings (RFC 9110 §8.4) is kept by what is in them. One that stays as it came is either in none of the codings
// that it names, so that no client can read it, which is a Shortfall; or it is Unread: its content cannot be judged.

// contentEncoding is compared whenever only one side uses a coding, whatever fields the rules name.
const contentEncoding = "Content-Encoding"

// An Unread body or stream could not be looked into, so that nothing it says was judged.
type Unread struct {
	Step string
	Text string // what it is, and why it could not be
}

// Unreadable returns the bodies that could not be decoded, in the order of the steps, each text once for a step.
func Unreadable(t *transcript.Transcript) []Unread {
	var out []Unread
	add := func(step, what, why string) {
		if u := (Unread{step, what + " cannot be judged: " + why}); why != "" && !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	for i := range t.Steps {
		for _, x := range t.Steps[i].Exchanges {
			add(t.Steps[i].ID, "the body of the answer", unreadAnswer(x))
		}
	}
	for _, s := range t.Streams {
		add(s.Step, "the event stream "+s.Name, unreadStream(t, s))
	}
	for i := range t.Upstream {
		for _, x := range t.Upstream[i].Exchanges {
			add(t.Upstream[i].ID, "the body of the request to the upstream", unreadQuestion(x))
		}
	}
	return out
}

// bodyCame reports whether an answer came to its end, and may have a body.
func bodyCame(x *transcript.Exchange) bool {
	return x.Response != nil && x.Failure == nil && x.Request.Method != "HEAD"
}

func unreadAnswer(x *transcript.Exchange) string {
	unread, _ := undecodedAnswer(x)
	return unread
}

// undecodedAnswer is Body.Opaque of an answer. A broken exchange is reported as broken instead.
func undecodedAnswer(x *transcript.Exchange) (unread, mistaken string) {
	const partial = 206
	if !bodyCame(x) {
		return "", ""
	}
	return x.Response.Body.Opaque(x.Response.Header, x.Response.Status == partial)
}

// unreadQuestion is why the body of a request to an upstream cannot be read.
func unreadQuestion(x *transcript.Exchange) string {
	if broke(x) {
		return ""
	}
	unread, _ := x.Request.Body.Opaque(x.Request.Header, false)
	return unread
}

// unasked returns the codings of an answer that its request did not ask for.
func unasked(x *transcript.Exchange) string {
	if x.Response == nil {
		return ""
	}
	asked := x.Request.Header.Values("Accept-Encoding")
	return strings.Join(slices.DeleteFunc(x.Response.Header.Codings(), func(name string) bool { return coding.Accepted(asked, name) }), ", ")
}

// codingShortfalls returns what is wrong with the coding of an answer, whatever the other side does.
func codingShortfalls(x *transcript.Exchange) []Shortfall {
	var out []Shortfall
	if names := unasked(x); names != "" {
		asked := "none: the request has no Accept-Encoding; send one in the step if clients do"
		if values := x.Request.Header.Values("Accept-Encoding"); len(values) > 0 {
			asked = "one that Accept-Encoding asks for: " + strings.Join(values, ", ")
		}
		out = append(out, Shortfall{
			Kind: CodingUnasked, Place: "header " + contentEncoding, Want: asked, Got: names,
			Text: "the answer is in a content coding that the request did not ask for",
		})
	}
	if _, why := undecodedAnswer(x); why != "" {
		out = append(out, miscoded(x.Response.Header, why))
	}
	return out
}

func miscoded(h transcript.Header, why string) Shortfall {
	return Shortfall{
		Kind: CodingMistaken, Place: "body", Want: strings.Join(h.Codings(), ", ") + ", as Content-Encoding says", Got: why,
		Text: "the body is not in its content coding",
	}
}

// streamCodings returns the codings that the answer of a stream names, when its events were read without decoding anything.
func streamCodings(t *transcript.Transcript, s *transcript.Stream) string {
	if s.Decoded {
		return ""
	}
	for step := range t.AllSteps() {
		if step.ID != s.Step {
			continue
		}
		for _, x := range step.Exchanges {
			if x.Stream == s.Name && x.Response != nil {
				return strings.Join(append(x.Response.Header.Codings(), x.Response.Header.TransferCodings()...), ", ")
			}
		}
	}
	return ""
}

// plain reports whether a stream has events. When nothing was decoded, it is in no coding.
func plain(s *transcript.Stream) bool {
	return slices.ContainsFunc(s.Events, func(ev transcript.Event) bool { return !ev.Comment && !ev.Undispatched })
}

// miscodedStream returns the codings that a stream names although it is in none; "" when it names none.
func miscodedStream(t *transcript.Transcript, s *transcript.Stream) string {
	if !plain(s) {
		return ""
	}
	return streamCodings(t, s)
}

// unreadStream is why a stream cannot be read.
func unreadStream(t *transcript.Transcript, s *transcript.Stream) string {
	names := streamCodings(t, s)
	if names == "" || plain(s) {
		return ""
	}
	return fmt.Sprintf("it is in the coding %q, which was not decoded", names)
}

// withCoding adds Content-Encoding to the names of the fields to compare, when the two sides are in different codings.
func withCoding(names []string, ref, cand transcript.Header) []string {
	named := slices.ContainsFunc(names, isCoding)
	if named || slices.Equal(ref.Codings(), cand.Codings()) {
		return names
	}
	return append(slices.Clip(names), contentEncoding)
}

func isCoding(name string) bool { return strings.EqualFold(name, contentEncoding) }

// unread notes that two bodies are not compared, because one of them cannot be read.
func (c *comparison) unread(ref, cand string) bool {
	if cmp.Or(ref, cand) == "" {
		return false
	}
	c.notCompared("a body in a coding that cannot be read", 1)
	return true
}
