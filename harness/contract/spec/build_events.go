package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// eventsKeyword is the extension of a text/event-stream that describes its events.
const eventsKeyword = "x-events"

// An extension reads x-events and x-messages.
type extension struct{ b *builder }

// events reads x-events of a media type.
func (x extension) events(m *Media, in *openapi3.MediaType, ref string) *EventStream {
	raw, ok := in.Extensions[eventsKeyword]
	if !ok {
		if in.ItemSchema != nil && in.ItemSchema.Value != nil {
			return items(x).events(m, in.ItemSchema, ref+"/itemSchema")
		}
		if m.Type.IsStream() {
			x.undescribed("the events of this stream", in.Extensions, ref, eventsKeyword)
		}
		return nil
	}
	ref += "/" + eventsKeyword
	if !m.Type.IsStream() {
		x.b.Problem(ref, fmt.Sprintf("%s is not allowed for %s; it describes text/event-stream only", eventsKeyword, m.Name), "")
		return nil
	}
	top, ok := raw.(map[string]any)
	if !ok {
		x.b.Problem(ref, eventsKeyword+" is not an object", "write the keys name, comments and events")
		return nil
	}
	x.unknownKeys(top, ref, eventsKeyword, "name", "comments", "events")
	set := &EventStream{Ref: ref, Noun: "event"}
	x.eventName(set, top, ref)
	if comments, ok := top["comments"]; ok {
		if set.Comments, ok = comments.(bool); !ok {
			x.b.Problem(ref+"/comments", "comments must be true or false", "")
		}
	}
	if _, ok := top["events"]; !ok {
		x.b.Problem(ref, eventsKeyword+" has no events", "list the events of the stream by name under events")
		return set
	}
	set.Received = x.eventSet(set.Noun, top, ref, "events")
	return set
}

// undescribed reports a stream whose events are not described: by an extension whose name is almost right, or else by
// none.
func (x extension) undescribed(what string, extensions map[string]any, ref, keyword string) {
	if key := misspelt(extensions, keyword); key != "" {
		x.b.Problem(ref+"/"+key, fmt.Sprintf("unknown key %q", key), problem.DidYouMean(key, []string{keyword}))
		return
	}
	x.b.Note(ref, what+" are not checked: it has no "+keyword, "")
}

// misspelt returns the first extension whose name is almost a keyword, or "".
func misspelt(extensions map[string]any, keyword string) string {
	for _, key := range slices.Sorted(maps.Keys(extensions)) {
		if _, near := problem.Nearest(key, []string{keyword}); near {
			return key
		}
	}
	return ""
}

func (x extension) unknownKeys(object map[string]any, ref, where string, known ...string) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(known, key) && !strings.HasPrefix(key, "x-") {
			x.b.Problem(jsontree.AppendName(ref, key), fmt.Sprintf("unknown key %q in %s", key, where), problem.DidYouMean(key, known))
		}
	}
}

func (x extension) eventName(set *EventStream, top map[string]any, ref string) {
	raw, ok := top["name"]
	if !ok || raw == "event" {
		return
	}
	text, _ := raw.(string)
	if set.name, ok = ParsePointer(text); !ok {
		x.b.Problem(ref+"/name", fmt.Sprintf("name is %v", raw),
			`write "event" for the event field, or a JSON Pointer to a string in the data: "/type"`)
	}
}

// eventSet reads the events of one side, which an object has at a key.
func (x extension) eventSet(noun string, top map[string]any, ref, key string) EventSet {
	set := EventSet{Ref: ref + "/" + key, Events: map[string]*Event{}}
	events, ok := top[key].(map[string]any)
	if !ok {
		x.b.Problem(set.Ref, key+" is not an object", "list the "+noun+"s of the stream by name")
		return set
	}
	set.Names = x.b.inOrder(slices.Sorted(maps.Keys(events)), set.Ref)
	for _, name := range set.Names {
		if e := x.declaredEvent(noun, name, events[name], jsontree.AppendName(set.Ref, name)); e != nil {
			set.Events[name] = e
		}
	}
	return set
}

func (x extension) declaredEvent(noun, name string, raw any, ref string) *Event {
	top, ok := raw.(map[string]any)
	if !ok {
		x.b.Problem(ref, fmt.Sprintf("the %s %q is not an object", noun, name), "give it a schema")
		return nil
	}
	x.unknownKeys(top, ref, "the "+noun+" "+name, "description", "contentType", "schema")
	e := &Event{Ref: ref, Label: name, Encoding: JSON}
	if raw, ok := top["contentType"]; ok {
		text, _ := raw.(string)
		if e.Encoding = ParseMediaType(text).Encoding(); e.Encoding == Opaque {
			x.opaque(noun, raw, top["schema"], ref)
		}
	}
	in, ok := top["schema"]
	if !ok {
		x.b.Problem(ref, fmt.Sprintf("the %s %q has no schema", noun, name), "describe its data; {} allows anything")
		return nil
	}
	if e.Schema = x.eventSchema(in, ref+"/schema"); e.Schema != nil && e.Encoding == PlainText {
		x.b.plainEvents = append(x.b.plainEvents, plainEvent{e, noun})
	}
	return e
}

// opaque reports a content type whose content is not read. Only binary messages may have one.
func (x extension) opaque(noun string, contentType, schema any, ref string) {
	object, _ := schema.(map[string]any)
	switch {
	case noun == "event":
		x.b.Problem(ref+"/contentType", fmt.Sprintf("contentType is %v", contentType), "write application/json or text/plain")
	case contentType != "application/octet-stream":
		x.b.Problem(ref+"/contentType", fmt.Sprintf("contentType is %v", contentType), "write application/json, text/plain or application/octet-stream")
	case len(object) > 0:
		x.b.Problem(ref+"/schema", "no schema can describe application/octet-stream", "write schema: {}")
	}
}

// eventSchema returns the schema of an event: that of a component, or one that resolveInlineEvents has prepared.
func (x extension) eventSchema(raw any, ref string) *schema.Schema {
	object, ok := raw.(map[string]any)
	if !ok {
		x.b.Problem(ref, "schema is not an object", "")
		return nil
	}
	if target, ok := object["$ref"]; ok {
		text, _ := target.(string)
		if s := x.b.schemas.Component(text); s != nil {
			return s
		}
		x.b.Problem(ref, fmt.Sprintf("$ref points to %q, which does not exist", target), problem.DidYouMean(text, x.b.schemas.Refs))
		return nil
	}
	in, err := inlineSchema(x.b.doc, object)
	if err != nil {
		x.b.Problem(ref, "the schema cannot be read: "+err.Error(), "")
		return nil
	}
	return x.b.schemas.Schema(in, ref)
}
