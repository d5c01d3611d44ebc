package scaffold

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// columns is the maximum width of a scenario's lines.
const columns = 110

// scenario generates the scenario of an operation.
func (g *generator) scenario(op *contract.Operation) File {
	id := g.id(op)
	steps, missing := g.steps(op)
	ready, shared := missing == "", g.tellsOfOthers(op, steps)
	harmful := ready && !g.opts.Destructive && destroys(op)
	switch {
	case g.arePrograms():
		missing = "the targets are programs: a project of its own can start the server (--command)"
	case harmful:
		missing = "it may destroy what the server holds (--destructive)"
	case ready && shared && !g.started() && !steps[len(steps)-1].isNarrow():
		missing = "its response shows what other scenarios do: let lockstep start the servers (--command), or run it alone"
	}
	f := File{Operation: op.String(), Name: id + ".yaml", Missing: missing}
	var b strings.Builder
	b.WriteString(modeline(scenarioSchema))
	if missing != "" {
		f.Name += ".todo"
	}
	file := id[strings.LastIndexByte(id, '/')+1:] + ".yaml"
	switch {
	case g.arePrograms():
		fmt.Fprintf(&b, "# Set aside, because %s.\n", missing)
	case harmful:
		fmt.Fprintf(&b, "# Set aside, because it may destroy what the server holds. If that is no harm, rename it to %s.\n", file)
	case missing != "" && ready:
		fmt.Fprintf(&b, "# Set aside, because its response shows what other scenarios do, each time something else.\n")
		fmt.Fprintf(&b, "# If lockstep starts your servers (command), write isolate: fresh below, and rename it to %s.\n", file)
	case missing != "":
		fmt.Fprintf(&b, "# Set aside, because no valid request could be generated:\n")
		for line := range strings.SplitSeq(missing, "; ") {
			fmt.Fprintf(&b, "#   %s\n", oneLine(line))
		}
		fmt.Fprintf(&b, "# Correct it, and rename it to %s.\n", file)
	}
	in := g.paths.item(op.Path).GetOperation(op.Method)
	fmt.Fprintf(&b, "scenario: %s\n", id)
	fmt.Fprintf(&b, "why: %s\n", yamldoc.Line(reason(op, in)))
	fmt.Fprintf(&b, "source: %s\n", yamldoc.Line(cmp.Or(g.opts.Contract, "openapi.yaml")+", "+cmp.Or(op.ID, op.String())))
	if tags := tagsOf(in); len(tags) > 0 {
		fmt.Fprintf(&b, "tags: [%s]\n", strings.Join(tags, ", "))
	}
	switch {
	case shared && g.started():
		fmt.Fprintln(&b, "isolate: fresh   # other scenarios would affect its response")
	case shared && missing == "":
		fmt.Fprintln(&b, "# Other scenarios affect its response: run it alone, or run all with --jobs 1.")
	}
	fmt.Fprintln(&b, "steps:")
	for _, r := range steps {
		r.print(&b)
	}
	f.Text = []byte(b.String())
	return f
}

// steps generates the requests of a scenario: first those that create what the operation's path names or what it lists,
// then the operation itself. After an operation that deletes something, one more request checks that. The last
// request leaves out what a body need not have.
func (g *generator) steps(op *contract.Operation) (steps []*request, missing string) {
	captured := map[int]string{}
	index := 0
	prefix := ""
	for _, p := range parts(op.Path) {
		if p.name == "" {
			prefix += p.text
			continue
		}
		if r := g.creation(op, strings.TrimSuffix(prefix, "/"), p.name, captured); r != nil {
			captured[index] = r.capture[0][0]
			steps = append(steps, r)
		}
		prefix += "{" + p.name + "}"
		index++
	}
	if r := g.element(op, captured); r != nil {
		steps = append(steps, r)
	}
	r, missing := g.request(op, captured)
	steps = append(steps, r)
	if get := g.paths.find("GET", op.Path); op.Method == "DELETE" && get != nil && len(captured) > 0 && !get.Streams() {
		if r, missing := g.request(get, captured); missing == "" {
			steps = append(steps, r)
		}
	}
	if missing != "" {
		return steps, missing
	}
	if least := g.least(op, captured, r); least != nil {
		steps = append(steps, least)
	}
	return steps, ""
}

// least returns a request whose JSON body has only what it must have; nil if that is no other body than that of full.
func (g *generator) least(op *contract.Operation, captured map[int]string, full *request) *request {
	if full.json == nil || full.stream {
		return nil
	}
	for _, t := range tastes {
		if t.optional {
			continue
		}
		if r, why := g.build(op, captured, t); why == "" && g.objections(r) == "" && r.json != nil && len(r.json.Names) < len(full.json.Names) {
			return r
		}
	}
	return nil
}

// parameter matches a parameter in a path template.
var parameter = regexp.MustCompile(`\{[^}]*\}`)

// find returns an operation by its path, whatever the names of its parameters; nil when there is none.
func (p paths) find(method, path string) *contract.Operation {
	return p.operations[method+" "+anonymous(path)]
}

// anonymous returns a path template without the names of its parameters.
func anonymous(template string) string {
	return strings.TrimSuffix(parameter.ReplaceAllString(template, "{}"), "/")
}

// creation returns the request that creates what a parameter names, with a capture of its id; nil when there is none.
func (g *generator) creation(of *contract.Operation, collection, parameter string, captured map[int]string) *request {
	post := g.paths.find("POST", collection)
	if post == nil || post == of || collection == "" {
		return nil
	}
	thing := strings.TrimSuffix(collection[strings.LastIndexByte(collection, '/')+1:], "s")
	place := idIn(g.paths.item(post.Path).Post.Responses, []string{parameter, "id", thing + "id"})
	if place == "" {
		return nil
	}
	r, missing := g.request(post, captured)
	if missing != "" {
		return nil
	}
	name := strings.Map(func(c rune) rune {
		if c < 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '-') {
			return c
		}
		return '_'
	}, parameter)
	if name == "unique" || name == "row" || name == "" || !unicode.IsLetter(rune(name[0])) || slices.Contains(slices.Collect(maps.Values(captured)), name) {
		name = "id_" + name
	}
	r.capture = [][2]string{{name, place}}
	return r
}

// element returns the request that adds something to the list that an operation returns, because an empty list shows
// nothing about its elements. It returns nil when there is none.
func (g *generator) element(of *contract.Operation, captured map[int]string) *request {
	post := g.paths.find("POST", of.Path)
	if of.Method != "GET" || of.Streams() || post == nil || !g.lists(of) {
		return nil
	}
	r, missing := g.request(post, captured)
	if missing != "" {
		return nil
	}
	return r
}

// idIn finds the id of a created object in the responses of an operation: a member with one of these names, at the top
// level or one below. It returns a JSONPath, or "".
func idIn(responses *openapi3.Responses, called []string) string {
	for kind, schema := range successSchemas(responses) {
		if !isJSON(kind) {
			continue
		}
		if name := idAmong(schema, called); name != "" {
			return "$" + jsontree.PathStep(name)
		}
		for _, outer := range slices.Sorted(maps.Keys(schema.Properties)) {
			if inner := schema.Properties[outer]; inner.Value != nil {
				if name := idAmong(flat(inner.Value, 0), called); name != "" {
					return "$" + jsontree.PathStep(outer) + jsontree.PathStep(name)
				}
			}
		}
	}
	return ""
}

// successSchemas ranges over the media types and schemas of the responses that report a success.
func successSchemas(responses *openapi3.Responses) iter.Seq2[string, *openapi3.Schema] {
	return func(yield func(string, *openapi3.Schema) bool) {
		for _, code := range slices.Sorted(maps.Keys(responses.Map())) {
			ref := responses.Value(code)
			if !strings.HasPrefix(code, "2") || ref.Value == nil {
				continue
			}
			for _, kind := range slices.Sorted(maps.Keys(ref.Value.Content)) {
				schema := ref.Value.Content[kind].Schema
				if schema != nil && schema.Value != nil && !yield(kind, flat(schema.Value, 0)) {
					return
				}
			}
		}
	}
}

// idAmong returns the member of a schema that has the first of these names, however its words are joined.
func idAmong(schema *openapi3.Schema, called []string) string {
	same := func(a, b string) bool {
		word := strings.NewReplacer("_", "", "-", "")
		return strings.EqualFold(word.Replace(a), word.Replace(b))
	}
	for _, wanted := range called {
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			p := schema.Properties[name]
			if same(name, wanted) && p.Value != nil && slices.Contains([]string{openapi3.TypeString, openapi3.TypeInteger}, kind(flat(p.Value, 0))) {
				return name
			}
		}
	}
	return ""
}

// destructive are words in the paths and ids of operations that stop a server, or change more than one object of it.
var destructive = []string{"shutdown", "shut", "stop", "restart", "reboot", "upgrade", "reset", "destroy", "purge", "wipe", "terminate",
	"kill", "drop", "truncate", "uninstall", "delete", "remove", "clear", "flush", "quit", "exit", "halt"}

// destroys reports whether an operation may destroy what a server holds, or stop the server.
func destroys(op *contract.Operation) bool {
	if op.Method == "DELETE" {
		return true
	}
	if op.Method == "GET" || op.Method == "HEAD" || op.Method == "OPTIONS" {
		return false
	}
	words := strings.Split(slug(op.ID)+"-"+slug(parameter.ReplaceAllString(op.Path, "")), "-")
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(destructive, word) })
}

// changes reports whether an operation of the document changes what is below the first segment of a path.
func (g *generator) changes(path string) bool {
	segment := func(path string) string {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return first
	}
	return slices.ContainsFunc(g.doc.Operations(), func(op *contract.Operation) bool {
		return !slices.Contains([]string{"GET", "HEAD", "OPTIONS", "TRACE"}, op.Method) && segment(op.Path) == segment(path)
	})
}

// tellsOfOthers reports whether a response of an operation can show other scenarios: it is a stream, or a list of all
// objects, and some operation changes them.
func (g *generator) tellsOfOthers(op *contract.Operation, steps []*request) bool {
	if op.Streams() {
		return true
	}
	within := slices.ContainsFunc(steps, func(r *request) bool { return len(r.capture) > 0 }) // something that this scenario has created
	return op.Method == "GET" && !within && g.lists(op) && g.changes(op.Path)
}

// isNarrow reports whether a request asks for something of this scenario alone: its address has a value that no other has.
func (r *request) isNarrow() bool {
	return strings.Contains(r.path, "${{") || slices.ContainsFunc(r.query.Items, func(n *jsontree.Node) bool { return strings.Contains(n.Text, "${{") })
}

// lists reports whether a GET returns a list.
func (g *generator) lists(op *contract.Operation) bool {
	for _, schema := range successSchemas(g.paths.item(op.Path).Get.Responses) {
		if hasList(schema) {
			return true
		}
	}
	return false
}

// hasList reports whether values of a schema are lists, or have one at the top level.
func hasList(schema *openapi3.Schema) bool {
	if kind(schema) == openapi3.TypeArray {
		return true
	}
	for _, p := range schema.Properties {
		if p.Value != nil && kind(flat(p.Value, 0)) == openapi3.TypeArray {
			return true
		}
	}
	return false
}

// hint is written into a scenario whose stream is open, but which does not cause any event yet.
const hint = "  # Add a step that makes the server send an event, and await the event:\n" +
	"  # - await: stream\n  #   match: {event: its-name}\n"

// print writes a request as a step.
func (r *request) print(b *strings.Builder) {
	switch {
	case r.socket != nil:
		fmt.Fprintf(b, "  - open: socket\n    socket: %s\n", yamldoc.Scalar(r.path))
	case r.stream:
		fmt.Fprintf(b, "  - open: stream\n    sse: GET %s\n", r.path)
	default:
		fmt.Fprintf(b, "  - http: %s %s\n", r.method, r.path)
	}
	entry := func(name string, n *jsontree.Node) {
		if flow := yamldoc.Flow(n); len(name)+len(flow)+6 <= columns || len(n.Items) == 0 {
			fmt.Fprintf(b, "    %s: %s\n", name, flow)
		} else {
			fmt.Fprintf(b, "    %s:\n%s", name, yamldoc.Block(n, 6, columns))
		}
	}
	if len(r.query.Names) > 0 {
		entry("query", &r.query)
	}
	if len(r.headers.Names) > 0 {
		entry("headers", &r.headers)
	}
	if r.json != nil {
		entry("json", r.json)
	}
	if r.rawType != "" {
		raw := &jsontree.Node{Kind: jsontree.Object}
		raw.Set("text", jsontree.NewText(r.raw))
		raw.Set("type", jsontree.NewText(r.rawType))
		entry("raw", raw)
	}
	for _, c := range r.capture {
		fmt.Fprintf(b, "    capture: {%s: %s}\n", c[0], yamldoc.Scalar(c[1]))
	}
	switch {
	case r.socket != nil:
		fmt.Fprint(b, messageHint(r.socket), "  - close: socket\n")
	case r.stream:
		fmt.Fprint(b, hint, "  - close: stream\n")
	}
}

// reason is the scenario's why: the operation's summary, if it has one.
func reason(op *contract.Operation, in *openapi3.Operation) string {
	if s := strings.TrimRight(oneLine(in.Summary), ". "); s != "" {
		return s
	}
	return op.String() + " does the same on all targets"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// tagsOf returns the tags of an operation in the form of a scenario's tags.
func tagsOf(in *openapi3.Operation) (out []string) {
	for _, t := range in.Tags {
		if s := slug(t); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// id returns the id of an operation's scenario: the first word of its path, and its operationId.
func (g *generator) id(op *contract.Operation) string {
	name := slug(op.ID)
	if name == "" {
		name = slug(op.Method + " " + op.Path)
	}
	for _, segment := range strings.Split(op.Path, "/") {
		if s := slug(segment); s != "" && !strings.Contains(segment, "{") {
			name = s + "/" + name
			break
		}
	}
	g.taken["waivers"] = true
	id := name
	for n := 2; g.taken[id]; n++ {
		id = name + "-" + strconv.Itoa(n)
	}
	g.taken[id] = true
	return id
}

var (
	camelCase = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	asciiWord = regexp.MustCompile(`[A-Za-z0-9]+`)
)

// slug returns a name in lower-case letters and digits, with its words joined by hyphens: addNote becomes add-note.
func slug(s string) string {
	words := asciiWord.FindAllString(camelCase.ReplaceAllString(s, "$1-$2"), -1)
	return strings.ToLower(strings.Join(words, "-"))
}
