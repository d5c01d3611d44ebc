package spec

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
)

type Media struct {
	Name   string // as the document writes it
	Ref    string
	Type   mediaType
	Schema *schema.Schema
	Events *EventStream // of text/event-stream, when x-events describes them
}

func newMedia(name, ref string) *Media {
	return &Media{Name: name, Ref: ref, Type: ParseMediaType(name)}
}

// A mediaType is a media type or, in a document, a range of media types. Parameters are ignored, because it is unknown
// which of them matter.
type mediaType struct{ main, sub string }

func ParseMediaType(s string) mediaType {
	s, _, _ = strings.Cut(s, ";")
	main, sub, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "/")
	return mediaType{main, sub}
}

func (t mediaType) IsJSON() bool {
	return t.sub == "json" && (t.main == "application" || t.main == "text") || strings.HasSuffix(t.sub, "+json")
}

func (t mediaType) isText() bool { return t.main == "text" && !t.IsJSON() && !t.IsStream() }

func (t mediaType) IsStream() bool { return t.main == "text" && t.sub == "event-stream" }

// FindMedia finds the entry for a content type: "For responses that match multiple keys, only the most specific key is
// applicable" (OpenAPI 3.0.3 §4.7.17.1).
func FindMedia(list []*Media, contentType string) *Media {
	t := ParseMediaType(contentType)
	var best *Media
	rank := 0
	for _, m := range list {
		r := 0
		switch {
		case strings.EqualFold(m.Name, contentType):
			r = 4
		case m.Type == t:
			r = 3
		case m.Type.main == t.main && m.Type.sub == "*":
			r = 2
		case m.Type.main == "*" && m.Type.sub == "*":
			r = 1
		}
		if r > rank {
			best, rank = m, r
		}
	}
	return best
}

func MediaNames(list []*Media) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

// An Encoding says how to read a text.
type Encoding byte

const (
	Opaque Encoding = iota // the content is not read
	JSON
	PlainText
)

func (t mediaType) Encoding() Encoding {
	switch {
	case t.IsJSON():
		return JSON
	case t.isText():
		return PlainText
	}
	return Opaque
}
