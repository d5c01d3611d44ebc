package compare

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A body with a content coding (RFC 9110 §8.4) is compared as it came, and the contract does not look into it. So one that
// says it has a coding and has none would be equal to the same body without the field, although no client can read it.

// mostDecoded is how much of a body is decoded to see whether it can be: a small one can hold very much.
const mostDecoded = 64 << 20

// coding returns the content coding that was applied last, in lower case; "" when there is none.
func coding(h transcript.Header) string {
	all := strings.Split(strings.Join(h.Values("Content-Encoding"), ","), ",")
	last := strings.ToLower(strings.TrimSpace(all[len(all)-1]))
	if last == "identity" {
		return ""
	}
	return last
}

// bodyCame reports whether an answer came to its end, and may have a body.
func bodyCame(x *transcript.Exchange) bool {
	return x.Response != nil && x.Failure == nil && x.Request.Method != "HEAD"
}

// miscoded says why a body is not in its content coding; "" when it is, or when nobody here can tell: an answer without a
// body or with a part of it (206), one that broke or was not kept whole, and codings other than gzip and deflate.
func miscoded(x *transcript.Exchange) string {
	const partial = 206
	r := x.Response
	if !bodyCame(x) || r.Status == partial || len(r.Body.Bytes) == 0 || !r.Body.Whole() {
		return ""
	}
	var err error
	switch coding(r.Header) {
	case "gzip", "x-gzip":
		err = decode(gzip.NewReader(bytes.NewReader(r.Body.Bytes)))
	case "deflate":
		err = decode(zlib.NewReader(bytes.NewReader(r.Body.Bytes)))
		// "Some non-conformant implementations send the "deflate" compressed data without the zlib wrapper" (§8.4.1.2).
		if err != nil && decode(flate.NewReader(bytes.NewReader(r.Body.Bytes)), nil) == nil {
			err = nil
		}
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func decode(r io.Reader, err error) error {
	if err == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(r, mostDecoded))
	}
	return err
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
				return coding(x.Response.Header)
			}
		}
	}
	return ""
}
