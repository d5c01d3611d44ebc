package mutate

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// mediaOperators say something else of what a body is; the body stays.
var mediaOperators = []Operator{
	media("other", "It says that the body is something else", func(v string) (string, bool) {
		if strings.HasPrefix(v, "text/html") {
			return "text/plain", true
		}
		return "text/html", true
	}),
	media("charset", "It names another encoding of characters", func(v string) (string, bool) {
		base, _, _ := strings.Cut(v, ";")
		return base + "; charset=iso-8859-1", true
	}),
	media("suffix", "It calls JSON a special kind of JSON", func(v string) (string, bool) {
		return strings.Replace(v, "application/json", "application/problem+json", 1), strings.HasPrefix(v, "application/json")
	}),
	media("parameters", "It leaves the parameters out", func(v string) (string, bool) {
		base, rest, found := strings.Cut(v, ";")
		return base, found && !saysNothing(base, rest)
	}),
	headerChange("media", "missing", "It does not say what the body is", isContentType, func(f transcript.Field) ([]transcript.Field, bool) {
		return nil, true
	}),
}

// saysNothing reports whether the parameters of a media type mean nothing: JSON is in UTF-8 (RFC 8259 §8.1), and so is an
// event stream.
func saysNothing(media, parameters string) bool {
	return (media == "application/json" || strings.HasSuffix(media, "+json") || media == "text/event-stream") &&
		strings.EqualFold(strings.TrimSpace(parameters), "charset=utf-8")
}

func isContentType(_ *Subject, f transcript.Field) bool {
	return strings.EqualFold(f.Name, "Content-Type")
}

func media(name, doc string, change func(string) (string, bool)) Operator {
	return headerChange("media", name, doc, isContentType, func(f transcript.Field) ([]transcript.Field, bool) {
		after, ok := change(f.Value)
		return []transcript.Field{{Name: f.Name, Value: after}}, ok && after != f.Value
	})
}
