package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A builder turns what the loader has read into what judges need, and notes the mistakes it meets.
type builder struct {
	doc *openapi3.T
	src *source

	schemas map[*openapi3.Schema]*schema
	order   []*openapi3.Schema // in which schemas were met, so that problems come in the same order each time
	settler settler
	bases   []*schema
	heirs   map[*schema][]*schema // by base schema
	names   map[string]bool       // of component schemas
	refs    []string              // to component schemas

	media    map[*openapi3.MediaType]*media
	examples []example
	plain    []*event // the events that are plain text
	problems Problems
	unjudged Problems
}

func newBuilder(doc *openapi3.T, src *source) *builder {
	return &builder{
		doc: doc, src: src,
		schemas: make(map[*openapi3.Schema]*schema),
		settler: settler{map[*schema][]*schema{}, map[*schema]bool{}, map[*schema]kindSet{}},
		heirs:   make(map[*schema][]*schema),
		names:   make(map[string]bool),
		media:   make(map[*openapi3.MediaType]*media),
	}
}

func (b *builder) problem(ref, what, fix string) {
	b.problems = append(b.problems, b.src.problem(ref, what, fix))
}

// skip notes what nobody will be held to.
func (b *builder) skip(ref, what, fix string) {
	b.unjudged = append(b.unjudged, b.src.problem(ref, what, fix))
}

// schemasRef is how a reference to a component schema begins.
const schemasRef = "#/components/schemas/"

// build reads the components first, so that what is shared is named after its component and not after its first user.
func (b *builder) build() []*Operation {
	if c := b.doc.Components; c != nil {
		for _, name := range sortedKeys(c.Schemas) {
			b.names[name] = true
			ref := schemasRef + escapePointer(name)
			b.refs = append(b.refs, ref)
			b.schema(c.Schemas[name], ref)
		}
		for _, name := range sortedKeys(c.Responses) {
			b.response("", c.Responses[name], "#/components/responses/"+escapePointer(name))
		}
		for _, name := range sortedKeys(c.RequestBodies) {
			b.requestBody(c.RequestBodies[name], "#/components/requestBodies/"+escapePointer(name))
		}
	}
	var ops []*Operation
	for _, path := range b.inOrder(sortedKeys(b.doc.Paths.Map()), "#/paths") {
		item := b.doc.Paths.Value(path)
		ref := "#/paths/" + escapePointer(path)
		for _, method := range methods {
			if in := item.GetOperation(method); in != nil {
				ops = append(ops, b.operation(method, path, item, in, ref+"/"+strings.ToLower(method)))
			}
		}
	}
	b.finish()
	return ops
}

// finish ties the schemas together, once all are there.
func (b *builder) finish() {
	b.resolveTags()
	for _, in := range b.order {
		b.settler.settle(b.schemas[in])
	}
	for _, base := range b.bases {
		b.settler.settle(base)
	}
	for _, in := range b.order {
		s := b.schemas[in]
		b.checkExample(example{"example", in.Example, s, s.ref + "/example"})
		b.checkExample(example{"default", in.Default, s, s.ref + "/default"})
	}
	for _, e := range b.examples {
		b.checkExample(e)
	}
	for _, e := range b.plain {
		if e.schema.wants&bit(jsontree.String) == 0 {
			b.problem(e.ref, "the event is plain text, and its schema wants no string", "write contentType: application/json")
		}
	}
}

// methods are those of a Path Item Object, in the order in which reports list them.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}

// inOrder sorts the names of an object as the document has them, as far as its text shows it. The loader has maps.
func (b *builder) inOrder(names []string, ref string) []string {
	place := make(map[string]int)
	for i, name := range b.src.keys(ref) {
		place[name] = i
	}
	slices.SortStableFunc(names, func(a, c string) int { return cmp.Compare(place[a], place[c]) })
	return names
}

func (b *builder) operation(method, path string, item *openapi3.PathItem, in *openapi3.Operation, ref string) *Operation {
	op := &Operation{ID: in.OperationID, Method: method, Path: path, ref: ref, servers: b.servers(item, in)}
	op.params = b.parameters(item, in, ref)
	names := pathNames(path)
	op.pathParams = len(names)
	for _, p := range op.params {
		p.index = slices.Index(names, p.name)
	}
	if in.RequestBody != nil {
		op.body = b.requestBody(in.RequestBody, ref+"/requestBody")
	}
	for _, code := range sortedKeys(in.Responses.Map()) {
		op.responses = append(op.responses, b.response(code, in.Responses.Value(code), ref+"/responses/"+code))
	}
	slices.SortFunc(op.responses, byCode)
	for _, r := range op.responses {
		for _, m := range r.media {
			if m.events != nil && op.events == nil {
				op.events = m.events
			}
		}
	}
	return op
}

// servers returns the base paths of an operation: its own servers stand for those of the path, and these for those of
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

// basePath cuts the scheme and the authority off a server's URL, which may hold variables in braces.
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
	return &requestBody{ref: ref, required: in.Value.Required, media: b.content(in.Value.Content, ref)}
}

func (b *builder) response(code string, in *openapi3.ResponseRef, ref string) *response {
	if in == nil || in.Value == nil {
		return &response{code: code, ref: ref}
	}
	at := ref
	if in.Ref != "" {
		at = in.Ref
	}
	r := &response{code: code, ref: at, media: b.content(in.Value.Content, at)}
	r.empty = b.mayBeEmpty(r, in.Value)
	for _, name := range sortedKeys(in.Value.Headers) {
		// "If a response header is defined with the name "Content-Type", it SHALL be ignored" (OpenAPI 3.0.3 §4.7.17.1).
		if h := in.Value.Headers[name]; h != nil && h.Value != nil && !strings.EqualFold(name, "Content-Type") {
			place := at + "/headers/" + escapePointer(name)
			if h.Ref != "" {
				place = h.Ref
			}
			r.headers = append(r.headers, b.parameter(&h.Value.Parameter, name, "header", place))
		}
	}
	return r
}

// emptiness is the keyword of a response that also comes without a body. OpenAPI can say that there is one, or none.
const emptiness = "x-empty"

func (b *builder) mayBeEmpty(r *response, in *openapi3.Response) bool {
	raw, ok := in.Extensions[emptiness]
	if !ok {
		return false
	}
	at := r.ref + "/" + emptiness
	if len(r.media) == 0 {
		b.problem(at, emptiness+" stands beside no content; a response without content has no body anyway", "")
	}
	empty, ok := raw.(bool)
	if !ok {
		b.problem(at, emptiness+" is neither true nor false", "")
	}
	return empty
}

func (b *builder) content(in openapi3.Content, ref string) (list []*media) {
	for _, name := range sortedKeys(in) {
		list = append(list, b.mediaType(name, in[name], ref+"/content/"+escapePointer(name)))
	}
	return list
}

func (b *builder) mediaType(name string, in *openapi3.MediaType, ref string) *media {
	if in == nil {
		return newMedia(name, ref)
	}
	if m, ok := b.media[in]; ok {
		return m
	}
	m := newMedia(name, ref)
	b.media[in] = m
	m.schema = b.schema(in.Schema, ref+"/schema")
	m.events = b.events(m, in, ref)
	b.exampleOf(m.schema, in.Example, in.Examples, ref)
	return m
}

// exampleOf notes the examples that stand beside a schema.
func (b *builder) exampleOf(s *schema, one any, several openapi3.Examples, ref string) {
	if s == nil {
		return
	}
	b.examples = append(b.examples, example{"example", one, s, ref + "/example"})
	for _, key := range sortedKeys(several) {
		if e := several[key]; e != nil && e.Value != nil {
			b.examples = append(b.examples, example{"example " + key, e.Value.Value, s, ref + "/examples/" + escapePointer(key)})
		}
	}
}

// An example is a value that the document gives for a schema.
type example struct {
	what   string
	value  any
	schema *schema
	ref    string
}

// checkExample holds a value of the document against its schema.
func (b *builder) checkExample(e example) {
	if e.value == nil {
		return
	}
	j := &judge{limit: 3}
	j.value(tree(e.value), e.schema, nil)
	for _, f := range j.found {
		at := ""
		if f.pointer != "" {
			at = " at " + f.pointer
		}
		b.problem(e.ref, fmt.Sprintf("the %s does not match its schema%s: %s", e.what, at, f.text), "")
	}
}

// component returns the schema that a reference to a component leads to.
func (b *builder) component(ref string) *schema {
	name, ok := strings.CutPrefix(ref, schemasRef)
	if !ok || b.doc.Components == nil {
		return nil
	}
	in := b.doc.Components.Schemas[unescapePointer(name)]
	if in == nil {
		return nil
	}
	return b.schemas[in.Value]
}
