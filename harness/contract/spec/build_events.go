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

// events reads x-events of a media type.
func (b *builder) events(m *Media, in *openapi3.MediaType, ref string) *EventStream {
	raw, ok := in.Extensions[eventsKeyword]
	if !ok {
		if in.ItemSchema != nil && in.ItemSchema.Value != nil {
			return items{b}.events(m, in.ItemSchema, ref+"/itemSchema")
		}
		b.misspeltKeyword(m, in, ref)
		return nil
	}
	ref += "/" + eventsKeyword
	if !m.Type.IsStream() {
		b.Problem(ref, fmt.Sprintf("%s is not allowed for %s; it describes text/event-stream only", eventsKeyword, m.Name), "")
		return nil
	}
	top, ok := raw.(map[string]any)
	if !ok {
		b.Problem(ref, eventsKeyword+" is not an object", "write the keys name, comments and events")
		return nil
	}
	b.unknownKeys(top, ref, eventsKeyword, "name", "comments", "events")
	set := &EventStream{Ref: ref, Events: make(map[string]*Event)}
	b.eventName(set, top, ref)
	if comments, ok := top["comments"]; ok {
		if set.Comments, ok = comments.(bool); !ok {
			b.Problem(ref+"/comments", "comments must be true or false", "")
		}
	}
	b.declaredEvents(set, top, ref+"/events")
	return set
}

// misspeltKeyword reports an extension of a stream whose name is almost right, and records streams without any
// extension.
func (b *builder) misspeltKeyword(m *Media, in *openapi3.MediaType, ref string) {
	if !m.Type.IsStream() {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(in.Extensions)) {
		if _, near := problem.Nearest(key, []string{eventsKeyword}); near {
			b.Problem(ref+"/"+key, fmt.Sprintf("unknown key %q", key), problem.DidYouMean(key, []string{eventsKeyword}))
			return
		}
	}
	b.Note(ref, "the events of this stream are not checked: it has no "+eventsKeyword, "")
}

func (b *builder) unknownKeys(object map[string]any, ref, where string, known ...string) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(known, key) && !strings.HasPrefix(key, "x-") {
			b.Problem(jsontree.AppendName(ref, key), fmt.Sprintf("unknown key %q in %s", key, where), problem.DidYouMean(key, known))
		}
	}
}

func (b *builder) eventName(set *EventStream, top map[string]any, ref string) {
	raw, ok := top["name"]
	if !ok || raw == "event" {
		return
	}
	text, _ := raw.(string)
	if set.name, ok = ParsePointer(text); !ok {
		b.Problem(ref+"/name", fmt.Sprintf("name is %v", raw),
			`write "event" for the event field, or a JSON Pointer to a string in the data: "/type"`)
	}
}

func (b *builder) declaredEvents(set *EventStream, top map[string]any, ref string) {
	raw, ok := top["events"]
	if !ok {
		b.Problem(set.Ref, eventsKeyword+" has no events", "list the events of the stream by name under events")
		return
	}
	events, ok := raw.(map[string]any)
	if !ok {
		b.Problem(ref, "events is not an object", "list the events of the stream by name")
		return
	}
	set.Names = b.inOrder(slices.Sorted(maps.Keys(events)), ref)
	for _, name := range set.Names {
		if e := b.declaredEvent(name, events[name], jsontree.AppendName(ref, name)); e != nil {
			set.Events[name] = e
		}
	}
}

func (b *builder) declaredEvent(name string, raw any, ref string) *Event {
	top, ok := raw.(map[string]any)
	if !ok {
		b.Problem(ref, fmt.Sprintf("the event %q is not an object", name), "give it a schema")
		return nil
	}
	b.unknownKeys(top, ref, "the event "+name, "description", "contentType", "schema")
	e := &Event{Ref: ref, Encoding: JSON}
	if raw, ok := top["contentType"]; ok {
		text, _ := raw.(string)
		if e.Encoding = ParseMediaType(text).Encoding(); e.Encoding == Opaque {
			b.Problem(ref+"/contentType", fmt.Sprintf("contentType is %v", raw), "write application/json or text/plain")
		}
	}
	in, ok := top["schema"]
	if !ok {
		b.Problem(ref, fmt.Sprintf("the event %q has no schema", name), "describe its data; {} allows anything")
		return nil
	}
	if e.Schema = b.eventSchema(in, ref+"/schema"); e.Schema != nil && e.Encoding == PlainText {
		b.plainEvents = append(b.plainEvents, e)
	}
	return e
}

// eventSchema returns the schema of an event: that of a component, or one that resolveInlineEvents has prepared.
func (b *builder) eventSchema(raw any, ref string) *schema.Schema {
	object, ok := raw.(map[string]any)
	if !ok {
		b.Problem(ref, "schema is not an object", "")
		return nil
	}
	if target, ok := object["$ref"]; ok {
		text, _ := target.(string)
		if s := b.schemas.Component(text); s != nil {
			return s
		}
		b.Problem(ref, fmt.Sprintf("$ref points to %q, which does not exist", target), problem.DidYouMean(text, b.schemas.Refs))
		return nil
	}
	in, err := inlineSchema(b.doc, object)
	if err != nil {
		b.Problem(ref, "the schema cannot be read: "+err.Error(), "")
		return nil
	}
	return b.schemas.Schema(in, ref)
}
