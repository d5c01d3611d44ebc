package spec

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A builder turns what the loader has read into what judges need, and records the mistakes that it finds.
type builder struct {
	*notes
	doc         *openapi3.T
	schemas     *schema.Builder
	mediaTypes  map[*openapi3.MediaType]*Media
	plainEvents []plainEvent
	program     *Operation // nil when the document describes no program
}

// A plainEvent is an event or a message that is plain text.
type plainEvent struct {
	*Event
	noun string
}

func newBuilder(doc *openapi3.T, src *source) *builder {
	n := &notes{source: src}
	b := &builder{notes: n, doc: doc, mediaTypes: make(map[*openapi3.MediaType]*Media)}
	draft2020 := !strings.HasPrefix(doc.OpenAPI, "3.0.")
	if doc.Components != nil {
		b.schemas = schema.NewBuilder(n, doc.Components.Schemas, draft2020)
	} else {
		b.schemas = schema.NewBuilder(n, nil, draft2020)
	}
	return b
}

// build reads the components first, so that shared parts are named after their component and not after their first
// user.
func (b *builder) build() []*Operation {
	if c := b.doc.Components; c != nil {
		for _, name := range slices.Sorted(maps.Keys(c.Responses)) {
			b.response("", c.Responses[name], jsontree.AppendName("#/components/responses", name))
		}
		for _, name := range slices.Sorted(maps.Keys(c.RequestBodies)) {
			b.requestBody(c.RequestBodies[name], jsontree.AppendName("#/components/requestBodies", name))
		}
	}
	var ops []*Operation
	for _, path := range b.inOrder(slices.Sorted(maps.Keys(b.doc.Paths.Map())), "#/paths") {
		item := b.doc.Paths.Value(path)
		ref := jsontree.AppendName("#/paths", path)
		for _, method := range methods {
			if in := item.GetOperation(method); in != nil {
				ops = append(ops, b.operation(method, path, item, in, ref+"/"+strings.ToLower(method)))
			}
		}
		extension{b}.misplacedMessages(item.Extensions, ref)
		for _, method := range slices.Sorted(maps.Keys(item.AdditionalOperations)) {
			in := item.AdditionalOperations[method]
			ops = append(ops, b.operation(method, path, item, in, jsontree.AppendName(ref+"/additionalOperations", method)))
		}
	}
	b.program = extension{b}.programMessages(len(ops) == 0)
	if b.doc.Paths == nil && b.doc.Webhooks == nil && b.program == nil && misspelt(b.doc.Extensions, messagesKeyword) == "" {
		b.Problem("#/paths", "the document has no paths", "list the operations under paths")
	}
	if b.doc.Webhooks != nil {
		b.Note("#/webhooks", "webhooks are not checked: they are requests that a server sends", "")
	}
	b.schemas.Finish()
	for _, e := range b.plainEvents {
		if !e.Schema.Accepts(jsontree.String) {
			b.Problem(e.Ref, "the "+e.noun+" is plain text, but its schema does not allow a string", "write contentType: application/json")
		}
	}
	return ops
}

// methods are the methods of a Path Item Object, in the order in which reports list them.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"}

// inOrder sorts the names of an object as in the document, as far as its text shows the order. The loader only has
// maps.
func (b *builder) inOrder(names []string, ref string) []string {
	place := make(map[string]int)
	for i, name := range b.source.Keys(ref) {
		place[name] = i
	}
	slices.SortStableFunc(names, func(a, c string) int { return cmp.Compare(place[a], place[c]) })
	return names
}

func (b *builder) operation(method, path string, item *openapi3.PathItem, in *openapi3.Operation, ref string) *Operation {
	op := &Operation{ID: in.OperationID, Method: method, Path: path, Ref: ref, servers: b.servers(item, in)}
	op.Params = b.parameters(item, in, ref, jsontree.AppendName("#/paths", path))
	names := PathNames(path)
	op.PathParams = len(names)
	for _, p := range op.Params {
		p.Index = slices.Index(names, p.Name)
	}
	if in.RequestBody != nil {
		op.Body = b.requestBody(in.RequestBody, ref+"/requestBody")
	}
	for _, code := range slices.Sorted(maps.Keys(in.Responses.Map())) {
		op.Responses = append(op.Responses, b.response(code, in.Responses.Value(code), ref+"/responses/"+code))
	}
	slices.SortFunc(op.Responses, byCode)
	for _, r := range op.Responses {
		for _, m := range r.Media {
			if m.Events != nil && op.eventStream == nil {
				op.eventStream = m.Events
			}
		}
	}
	op.Messages = extension{b}.socketMessages(op, in.Extensions)
	return op
}

// servers returns the base paths of an operation. Its own servers replace those of the path, and these replace those of
// the document (OpenAPI 3.0.3 §4.7.9, §4.7.10).
func (b *builder) servers(item *openapi3.PathItem, in *openapi3.Operation) []string {
	list := b.doc.Servers
	if len(item.Servers) > 0 {
		list = item.Servers
	}
	if in.Servers != nil && len(*in.Servers) > 0 {
		list = *in.Servers
	}
	bases := []string{}
	for _, s := range list {
		if base := basePath(s.URL); !slices.Contains(bases, base) {
			bases = append(bases, base)
		}
	}
	if len(bases) == 0 {
		bases = append(bases, "")
	}
	return bases
}

// basePath removes the scheme and the authority from a server's URL, which may have variables in braces.
func basePath(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		_, path, _ := strings.Cut(rest, "/")
		url = "/" + path
	}
	url = strings.TrimRight(url, "/")
	if url != "" && !strings.HasPrefix(url, "/") {
		url = "/" + url
	}
	return url
}

func (b *builder) requestBody(in *openapi3.RequestBodyRef, ref string) *requestBody {
	if in == nil || in.Value == nil {
		return nil
	}
	if in.Ref != "" {
		ref = in.Ref
	}
	return &requestBody{Ref: ref, Required: in.Value.Required, Media: b.content(in.Value.Content, ref)}
}

func (b *builder) response(code string, in *openapi3.ResponseRef, ref string) *Response {
	if in == nil || in.Value == nil {
		return &Response{Code: code, Ref: ref}
	}
	at := ref
	if in.Ref != "" {
		at = in.Ref
	}
	r := &Response{Code: code, Ref: at, Media: b.content(in.Value.Content, at)}
	extension{b}.misplacedMessages(in.Value.Extensions, at)
	r.Empty = b.mayBeEmpty(r, in.Value)
	for _, name := range slices.Sorted(maps.Keys(in.Value.Headers)) {
		// "If a response header is defined with the name "Content-Type", it SHALL be ignored" (OpenAPI 3.0.3 §4.7.17.1).
		if h := in.Value.Headers[name]; h != nil && h.Value != nil && !strings.EqualFold(name, "Content-Type") {
			place := jsontree.AppendName(at+"/headers", name)
			if h.Ref != "" {
				place = h.Ref
			}
			r.Headers = append(r.Headers, b.parameter(&h.Value.Parameter, name, "header", place))
		}
	}
	return r
}

// emptyKeyword is the keyword of a response that may also have no body. Plain OpenAPI can only say that there is a
// body, or that there is none.
const emptyKeyword = "x-empty"

func (b *builder) mayBeEmpty(r *Response, in *openapi3.Response) bool {
	raw, ok := in.Extensions[emptyKeyword]
	if !ok {
		return false
	}
	at := r.Ref + "/" + emptyKeyword
	if len(r.Media) == 0 {
		b.Problem(at, emptyKeyword+" has no effect here: a response without content never has a body", "")
	}
	empty, ok := raw.(bool)
	if !ok {
		b.Problem(at, emptyKeyword+" must be true or false", "")
	}
	return empty
}

func (b *builder) content(in openapi3.Content, ref string) (list []*Media) {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		list = append(list, b.mediaType(name, in[name], jsontree.AppendName(ref+"/content", name)))
	}
	return list
}

func (b *builder) mediaType(name string, in *openapi3.MediaType, ref string) *Media {
	if in == nil {
		return newMedia(name, ref)
	}
	if m, ok := b.mediaTypes[in]; ok {
		return m
	}
	m := newMedia(name, ref)
	b.mediaTypes[in] = m
	m.Schema = b.schemas.Schema(in.Schema, ref+"/schema")
	m.Events = extension{b}.events(m, in, ref)
	extension{b}.misplacedMessages(in.Extensions, ref)
	b.schemas.AddExamples(m.Schema, in.Example, in.Examples, ref)
	return m
}
