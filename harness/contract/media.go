package contract

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A media is one entry of a content map.
type media struct {
	name   string // as the document writes it
	ref    string
	typ    mediaType
	schema *schema
	events *eventSet // of text/event-stream, when x-events describes them
}

func newMedia(name, ref string) *media {
	return &media{name: name, ref: ref, typ: parseMediaType(name)}
}

// A mediaType is a media type or, in a document, a range of them. Parameters do not count: nobody can say which of them
// matter.
type mediaType struct{ main, sub string }

func parseMediaType(s string) mediaType {
	s, _, _ = strings.Cut(s, ";")
	main, sub, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "/")
	return mediaType{main, sub}
}

func (t mediaType) isJSON() bool {
	return t.sub == "json" && (t.main == "application" || t.main == "text") || strings.HasSuffix(t.sub, "+json")
}

func (t mediaType) isText() bool { return t.main == "text" && !t.isJSON() && !t.isStream() }

func (t mediaType) isStream() bool { return t.main == "text" && t.sub == "event-stream" }

// find returns the entry for a content type: "For responses that match multiple keys, only the most specific key is
// applicable" (OpenAPI 3.0.3 §4.7.17.1).
func find(list []*media, contentType string) *media {
	t := parseMediaType(contentType)
	var best *media
	rank := 0
	for _, m := range list {
		r := 0
		switch {
		case strings.EqualFold(m.name, contentType):
			r = 4
		case m.typ == t:
			r = 3
		case m.typ.main == t.main && m.typ.sub == "*":
			r = 2
		case m.typ.main == "*" && m.typ.sub == "*":
			r = 1
		}
		if r > rank {
			best, rank = m, r
		}
	}
	return best
}

func mediaNames(list []*media) string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.name
	}
	return strings.Join(names, ", ")
}

// A content is how a text is to be read.
type content byte

const (
	opaque content = iota // not at all
	jsonText
	plainText
)

func (t mediaType) content() content {
	switch {
	case t.isJSON():
		return jsonText
	case t.isText():
		return plainText
	}
	return opaque
}

// verdict judges the content of a message or an event. Verdicts are kept: servers repeat themselves.
func (d *Document) verdict(s *schema, how content, side Side, data []byte) []finding {
	if how == opaque || s == nil && how != jsonText {
		return nil
	}
	key := cacheKey{s, how, side}
	if found, ok := d.cache.get(key, data); ok {
		return found
	}
	found := d.judge(s, how, side, data)
	d.cache.put(key, data, found)
	return found
}

func (d *Document) judge(s *schema, how content, side Side, data []byte) []finding {
	if how == plainText {
		j := d.newJudge(side)
		j.value(s.read(string(data)), s, nil)
		return j.done(s.ref)
	}
	n, defects, err := d.docs.Parse(data)
	j := d.newJudge(side)
	ref := ""
	if s != nil {
		ref = s.ref
	}
	for _, f := range defects {
		j.found = append(j.found, finding{cut(f.Pointer), Kind("json-" + f.Kind), f.Text, ref})
		if len(j.found) == j.limit {
			break
		}
	}
	if err != nil {
		return append(j.found, finding{"", JSONSyntax, "the content is not JSON: " + err.Error(), ref})
	}
	if s != nil {
		if len(n.Items) > 0 {
			room := d.room
			if room == nil {
				room = newRoom()
			}
			j.path, j.fields, j.applied = room.path, room.fields, room.applied
		}
		j.value(n, s, nil)
	}
	return j.done(ref)
}

// A room is what a judge's stacks begin with: enough for most. One after the other can have the same.
type room struct {
	path    []byte
	fields  []fieldState
	applied []*schema
}

func newRoom() *room {
	return &room{make([]byte, 0, 128), make([]fieldState, 0, 24), make([]*schema, 0, 8)}
}

func (d *Document) newJudge(side Side) *judge {
	if side == Event {
		side = Response // it goes the same way
	}
	return &judge{side: side, strict: side == Response && !d.opts.AllowUndocumentedFields, limit: d.opts.MaxViolations}
}

// done returns what was found about a value whose schema stands at ref, and says so when that is not all.
func (j *judge) done(ref string) []finding {
	switch {
	case j.full:
		j.found = append(j.found, finding{"", MoreViolations, "there are more violations than the ones listed", ref})
	case j.gaveUp:
		j.found = append(j.found, finding{"", MoreViolations, "the value is too deep or too large for its schema's alternatives: not all of it was checked", ref})
	}
	return j.found
}

// read returns the value that a text stands for where a schema may want something else than a string: in parameters,
// headers and plain text, 5 is written like "5".
func (s *schema) read(text string) *jsontree.Node {
	plain := &jsontree.Node{Kind: jsontree.String, Text: text}
	if s == nil || s.wants&^(bit(jsontree.String)|bit(jsontree.Null)) == 0 {
		return plain
	}
	n, defects, err := jsontree.Parse([]byte(text))
	if err != nil || len(defects) > 0 || n.Text != text || n.Kind != jsontree.Number && n.Kind != jsontree.Boolean {
		return plain
	}
	var j judge
	if s.wants&bit(n.Kind) == 0 || j.distance(n, s) > 0 && j.distance(plain, s) == 0 {
		return plain
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func escapePointer(name string) string { return string(appendName(nil, name))[1:] }

// cut shortens a JSON Pointer.
func cut(pointer string) string {
	if len(pointer) <= longestPointer {
		return pointer
	}
	return strings.ToValidUTF8(pointer[:longestPointer], "") + "…"
}
