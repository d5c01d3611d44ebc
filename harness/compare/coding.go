package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A body in content codings (RFC 9110 §8.4) is recorded without them. If it could not be decoded, there are two cases.
// It may not be in the codings that it names, so that no client can read it: that is an Unmet demand. Otherwise it is
// an UnreadableBody, whose content cannot be judged.

// contentEncoding is compared whenever the codings of the two sides differ, even if no rule names the field.
const contentEncoding = "Content-Encoding"

// An UnreadableBody is a body or a stream that could not be decoded, so that its content was not judged.
type UnreadableBody struct {
	Step string
	Text string // what it is, and why it could not be decoded
}

// Unreadable returns what could not be decoded, in the order of the steps. Each text is listed once per step.
func Unreadable(t *transcript.Transcript) []UnreadableBody {
	var out []UnreadableBody
	add := func(step, what, why string) {
		if u := (UnreadableBody{step, what + " cannot be judged: " + why}); why != "" && !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	for i := range t.Steps {
		for _, x := range t.Steps[i].Exchanges {
			add(t.Steps[i].ID, "the body of the answer", unreadableResponse(x))
		}
	}
	for _, s := range t.Streams {
		add(s.Step, "the event stream "+s.Name, unreadableStream(t, s))
	}
	for i := range t.Upstream {
		for _, x := range t.Upstream[i].Exchanges {
			add(t.Upstream[i].ID, "the body of the request to the upstream", unreadableRequest(x))
		}
	}
	return out
}

func unreadableResponse(x *transcript.Exchange) string {
	unread, _ := opaqueResponse(x)
	return unread
}

// opaqueResponse is Body.Opaque for a response. A broken exchange is reported as broken instead.
func opaqueResponse(x *transcript.Exchange) (unread, mistaken string) {
	const partial = 206
	if !hasBody(x) {
		return "", ""
	}
	return x.Response.Body.Opaque(x.Response.Header, x.Response.Status == partial)
}

// unreadableRequest returns why the body of a request to an upstream cannot be read; "" when it can.
func unreadableRequest(x *transcript.Exchange) string {
	if broke(x) {
		return ""
	}
	unread, _ := x.Request.Body.Opaque(x.Request.Header, false)
	return unread
}

// unrequestedCodings returns the codings of a response that its request did not ask for.
func unrequestedCodings(x *transcript.Exchange) string {
	if x.Response == nil {
		return ""
	}
	asked := x.Request.Header.Values("Accept-Encoding")
	return strings.Join(slices.DeleteFunc(x.Response.Header.Codings(), func(name string) bool { return transcript.AcceptsCoding(asked, name) }), ", ")
}

// streamCodings returns the codings that the response of a stream names although its events were read without decoding.
// wrong is whether it has events, so that it is in no coding at all.
func streamCodings(t *transcript.Transcript, s *transcript.Stream) (names string, wrong bool) {
	wrong = slices.ContainsFunc(s.Events, func(ev transcript.Event) bool { return !ev.Comment && !ev.Undispatched })
	for step := range t.AllSteps() {
		for _, x := range step.Exchanges {
			if !s.Decoded && step.ID == s.Step && x.Stream == s.Name && x.Response != nil {
				return strings.Join(append(x.Response.Header.Codings(), x.Response.Header.TransferCodings()...), ", "), wrong
			}
		}
	}
	return "", wrong
}

// unreadableStream returns why a stream cannot be read; "" when it can.
func unreadableStream(t *transcript.Transcript, s *transcript.Stream) string {
	names, wrong := streamCodings(t, s)
	if names == "" || wrong {
		return ""
	}
	return fmt.Sprintf("it is in the coding %q, which was not decoded", names)
}

// withCoding adds Content-Encoding to the names of the fields to compare, if the codings of the two sides differ.
func withCoding(names []string, ref, cand transcript.Header) []string {
	if slices.Equal(ref.Codings(), cand.Codings()) {
		return names
	}
	return transcript.AddNames(names, contentEncoding)
}

func isCoding(name string) bool { return strings.EqualFold(name, contentEncoding) }
