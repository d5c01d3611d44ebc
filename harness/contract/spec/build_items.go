package spec

import (
	"fmt"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
)

// items reads itemSchema.
type items struct{ b *builder }

// events reads the events of a stream from itemSchema. It describes each event as an object whose members are the
// fields event and data, both strings; contentSchema describes the JSON in data (OpenAPI 3.2.0 §4.14.3).
func (r items) events(m *Media, in *openapi3.SchemaRef, ref string) *EventStream {
	if !m.Type.IsStream() {
		r.b.Note(ref, fmt.Sprintf("the items of %s are not checked: itemSchema is read for text/event-stream only", m.Name), "")
		return nil
	}
	set := &EventStream{Ref: ref, Noun: "event", Comments: true} // OpenAPI does not describe comments
	received := EventSet{Ref: ref + "/events", Events: map[string]*Event{}}
	alternatives := slices.Concat(in.Value.OneOf, in.Value.AnyOf)
	if alternatives == nil {
		alternatives = openapi3.SchemaRefs{in}
	}
	data := map[string]openapi3.SchemaRefs{} // by the event's name
	for _, one := range alternatives {
		property := func(name string) *openapi3.SchemaRef {
			for _, s := range []*openapi3.SchemaRef{one, in} {
				if s != nil && s.Value != nil && s.Value.Properties[name] != nil {
					return s.Value.Properties[name]
				}
			}
			return nil
		}
		if property("data") == nil {
			r.b.Note(ref, "the events of this stream are not checked: not every alternative of its itemSchema has the property data", "")
			return nil
		}
		for _, name := range eventNames(property("event")) {
			if data[name] == nil {
				received.Names = append(received.Names, name)
			}
			data[name] = append(data[name], property("data"))
		}
	}
	for _, name := range received.Names {
		received.Events[name] = r.event(name, data[name], ref)
	}
	set.Received = received
	return set
}

// eventNames lists the values that an event's name can have. Without the field, it is "message" (WHATWG HTML 9.2.6).
func eventNames(in *openapi3.SchemaRef) (names []string) {
	if in != nil && in.Value != nil {
		for _, v := range append(slices.Clone(in.Value.Enum), in.Value.Const) {
			if name, ok := v.(string); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if names == nil {
		names = []string{"message"}
	}
	return names
}

// event returns the event of a name. Each of the schemas describes its data, and one of them must match.
func (r items) event(name string, data openapi3.SchemaRefs, ref string) *Event {
	e := &Event{Ref: ref, Label: name, Encoding: JSON}
	content := openapi3.SchemaRefs{}
	for _, one := range data {
		switch {
		case one.Value.ContentSchema != nil:
			content = append(content, one.Value.ContentSchema)
		case ParseMediaType(one.Value.ContentMediaType).Encoding() == JSON:
			content = append(content, &openapi3.SchemaRef{Value: &openapi3.Schema{}})
		default:
			e.Encoding = PlainText
		}
	}
	switch {
	case e.Encoding == JSON:
		e.Schema = r.anyOf(content, ref)
	case len(content) > 0:
		r.b.Note(ref, fmt.Sprintf("the data of the event %q is not checked: it is JSON in one alternative, and plain text in another", name), "")
		e.Schema = r.b.schemas.Schema(&openapi3.SchemaRef{Value: &openapi3.Schema{}}, ref)
	default:
		e.Schema = r.anyOf(data, ref)
	}
	return e
}

func (r items) anyOf(list openapi3.SchemaRefs, ref string) *schema.Schema {
	if len(list) == 1 {
		return r.b.schemas.Schema(list[0], ref)
	}
	return r.b.schemas.Schema(&openapi3.SchemaRef{Value: &openapi3.Schema{AnyOf: list}}, ref)
}
