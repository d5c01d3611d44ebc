package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// unmetCodings returns what is wrong with the coding of a response, whatever the other side does.
func unmetCodings(x *transcript.Exchange) []Unmet {
	var out []Unmet
	if names := unrequestedCodings(x); names != "" {
		asked := "none: the request has no Accept-Encoding; send one in the step if clients do"
		if values := x.Request.Header.Values("Accept-Encoding"); len(values) > 0 {
			asked = "one that Accept-Encoding asks for: " + strings.Join(values, ", ")
		}
		out = append(out, Unmet{
			Kind: CodingUnasked, Place: "header " + contentEncoding, Want: asked, Got: names,
			Text: "the response has a content coding that the request did not ask for",
		})
	}
	if _, why := opaqueResponse(x); why != "" {
		out = append(out, wrongCoding(x.Response.Header, why))
	}
	return out
}

func wrongCoding(h transcript.Header, why string) Unmet {
	return Unmet{
		Kind: CodingMistaken, Place: "body", Want: strings.Join(h.Codings(), ", ") + ", as Content-Encoding says", Got: why,
		Text: "the body is not encoded as its Content-Encoding says",
	}
}
