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
		base, _, found := strings.Cut(v, ";")
		return base, found
	}),
	headerChange("media", "missing", "It does not say what the body is", isContentType, func(f transcript.Field) ([]transcript.Field, bool) {
		return nil, true
	}),
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
