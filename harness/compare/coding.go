package compare

import (
	"errors"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/coding"
)

// A body in a content coding (RFC 9110 §8.4) is kept by what is in it. One that says it has a coding and has none would be
// equal to the same body without the field, although no client can read it.

// mostDecoded is how much of a body is decoded to see whether it can be.
const mostDecoded = 64 << 20

// lastCoding returns the content coding that was applied last; "" when there is none.
func lastCoding(h transcript.Header) string {
	all := coding.Of(h.Values("Content-Encoding"))
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// bodyCame reports whether an answer came to its end, and may have a body.
func bodyCame(x *transcript.Exchange) bool {
	return x.Response != nil && x.Failure == nil && x.Request.Method != "HEAD"
}

// miscoded says why a body is not in its content coding; "" when it is, or when nobody here can tell: an answer without a
// body or with a part of it (206), one that broke or was not kept whole, and codings that nobody here reads.
func miscoded(x *transcript.Exchange) string {
	const partial = 206
	r := x.Response
	if !bodyCame(x) || r.Status == partial || len(r.Body.Bytes) == 0 || !r.Body.Whole() || r.Body.Decoded() {
		return ""
	}
	name := lastCoding(r.Header)
	if !coding.Known(name) {
		return ""
	}
	if _, err := coding.Decode(name, r.Body.Bytes, mostDecoded); err != nil && !errors.Is(err, coding.ErrTooLarge) {
		return err.Error()
	}
	return ""
}

// miscodedStream returns the content coding that the answer of a stream names; "" when it names none, and when the stream has no
// events. They were read without decoding anything, so there is none.
func miscodedStream(t *transcript.Transcript, s *transcript.Stream) string {
	if !slices.ContainsFunc(s.Events, func(ev transcript.Event) bool { return !ev.Comment && !ev.Undispatched }) {
		return ""
	}
	for step := range t.AllSteps() {
		if step.ID != s.Step {
			continue
		}
		for _, x := range step.Exchanges {
			if x.Stream == s.Name && x.Response != nil {
				return lastCoding(x.Response.Header)
			}
		}
	}
	return ""
}
