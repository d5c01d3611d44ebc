package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/problem"
)

// extension is the keyword beside the schema of a text/event-stream that describes its events.
const extension = "x-events"

// events reads x-events of a media type.
func (b *builder) events(m *media, in *openapi3.MediaType, ref string) *eventSet {
	raw, ok := in.Extensions[extension]
	if !ok {
		b.misspeltExtension(m, in, ref)
		return nil
	}
	ref += "/" + extension
	if !m.typ.isStream() {
		b.problem(ref, fmt.Sprintf("%s stands beside %s; it describes text/event-stream only", extension, m.name), "")
		return nil
	}
	top, ok := raw.(map[string]any)
	if !ok {
		b.problem(ref, extension+" is not an object", "write the keys name, comments and events")
		return nil
	}
	b.unknownKeys(top, ref, extension, "name", "comments", "events")
	set := &eventSet{ref: ref, events: make(map[string]*event)}
	b.eventName(set, top, ref)
	if comments, ok := top["comments"]; ok {
		if set.comments, ok = comments.(bool); !ok {
			b.problem(ref+"/comments", "comments is neither true nor false", "")
		}
	}
	b.declaredEvents(set, top, ref+"/events")
	return set
}

// misspeltExtension speaks up where a stream has an extension of almost the right name, and notes streams without any.
func (b *builder) misspeltExtension(m *media, in *openapi3.MediaType, ref string) {
	if !m.typ.isStream() {
		return
	}
	for _, key := range sortedKeys(in.Extensions) {
		if _, near := problem.Nearest(key, []string{extension}); near {
			b.problem(ref+"/"+key, fmt.Sprintf("unknown key %q", key), problem.DidYouMean(key, []string{extension}))
			return
		}
	}
	b.skip(ref, "the events of this stream are not checked: it has no "+extension, "")
}

func (b *builder) unknownKeys(object map[string]any, ref, where string, known ...string) {
	for _, key := range sortedKeys(object) {
		if !slices.Contains(known, key) && !strings.HasPrefix(key, "x-") {
			b.problem(ref+"/"+escapePointer(key), fmt.Sprintf("unknown key %q in %s", key, where), problem.DidYouMean(key, known))
		}
	}
}

func (b *builder) eventName(set *eventSet, top map[string]any, ref string) {
	raw, ok := top["name"]
	if !ok || raw == "event" {
		return
	}
	text, _ := raw.(string)
	if set.name, ok = parsePointer(text); !ok {
		b.problem(ref+"/name", fmt.Sprintf("name is %v", raw),
			`write "event" for the event field, or a JSON Pointer to a string in the data: "/type"`)
	}
}

func (b *builder) declaredEvents(set *eventSet, top map[string]any, ref string) {
	raw, ok := top["events"]
	if !ok {
		b.problem(set.ref, extension+" has no events", "list the events of the stream by name under events")
		return
	}
	events, ok := raw.(map[string]any)
	if !ok {
		b.problem(ref, "events is not an object", "list the events of the stream by name")
		return
	}
	set.names = b.inOrder(sortedKeys(events), ref)
	for _, name := range set.names {
		if e := b.declaredEvent(name, events[name], ref+"/"+escapePointer(name)); e != nil {
			set.events[name] = e
		}
	}
}

func (b *builder) declaredEvent(name string, raw any, ref string) *event {
	top, ok := raw.(map[string]any)
	if !ok {
		b.problem(ref, fmt.Sprintf("the event %q is not an object", name), "give it a schema")
		return nil
	}
	b.unknownKeys(top, ref, "the event "+name, "description", "contentType", "schema")
	e := &event{ref: ref, how: jsonText}
	if raw, ok := top["contentType"]; ok {
		text, _ := raw.(string)
		if e.how = parseMediaType(text).content(); e.how == opaque {
			b.problem(ref+"/contentType", fmt.Sprintf("contentType is %v", raw), "write application/json or text/plain")
		}
	}
	in, ok := top["schema"]
	if !ok {
		b.problem(ref, fmt.Sprintf("the event %q has no schema", name), "say what its data is; {} for anything")
		return nil
	}
	if e.schema = b.eventSchema(in, ref+"/schema"); e.schema != nil && e.how == plainText {
		b.plain = append(b.plain, e)
	}
	return e
}

// eventSchema returns the schema of an event: that of a component, or one that resolveInlineEvents has prepared.
func (b *builder) eventSchema(raw any, ref string) *schema {
	object, ok := raw.(map[string]any)
	if !ok {
		b.problem(ref, "schema is not an object", "")
		return nil
	}
	if target, ok := object["$ref"]; ok {
		text, _ := target.(string)
		if s := b.component(text); s != nil {
			return s
		}
		b.problem(ref, fmt.Sprintf("$ref leads to %q, which does not exist", target), problem.DidYouMean(text, b.refs))
		return nil
	}
	in, err := b.inlineSchema(object)
	if err != nil {
		b.problem(ref, "the schema cannot be read: "+err.Error(), "")
		return nil
	}
	return b.schema(in, ref)
}

// inlineSchema reads a schema that stands in an extension, where the loader does not look. The loader resolves what it
// refers to in a document that has the same components.
func (b *builder) inlineSchema(object map[string]any) (*openapi3.SchemaRef, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	in := new(openapi3.SchemaRef)
	if err := json.Unmarshal(text, in); err != nil {
		return nil, err
	}
	if bytes.Contains(text, []byte(`"$ref"`)) {
		all := openapi3.Schemas{"the schema of an event": in}
		if b.doc.Components != nil {
			maps.Copy(all, b.doc.Components.Schemas)
		}
		doc := &openapi3.T{OpenAPI: b.doc.OpenAPI, Components: &openapi3.Components{Schemas: all}}
		if err := newLoader().ResolveRefsIn(doc, nil); err != nil {
			return nil, err
		}
	}
	return in, in.Validate(context.Background(), validation...)
}
