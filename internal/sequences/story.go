package sequences

import (
	"fmt"
	"maps"
	"math/rand"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A story builds one sequence, and knows what the steps so far have created.
type story struct {
	*rand.Rand
	g       *Generator
	out     *Sequence
	ask     bool           // the server asks before each tool call (GOOSE_MODE approve)
	made    int            // how many captures and streams there are
	live    []string       // sessions, by the names of their captures
	gone    []string       // deleted sessions; a later session may have the same number
	names   []string       // extensions that the sequence uses
	tools   map[string]int // by client: the least number of tools that it has
	pending map[string]string
	ours    []string // clients that only valid requests are about
	clients bool     // the sequence uses the client-tools family
	depth   int
	whole   bool // texts have no lone surrogate, which a body must not have
}

func (s *story) chance(oneIn int) bool          { return s.Intn(oneIn) == 0 }
func (s *story) pick(of []string) string        { return of[s.Intn(len(of))] }
func (s *story) pickAny(of []any) any           { return of[s.Intn(len(of))] }
func (s *story) pickNode(of ...*node) *node     { return of[s.Intn(len(of))] }
func (s *story) name(kind string) string        { s.made++; return fmt.Sprintf("%s%d", kind, s.made) }
func sorted[V any](m map[string]V) (k []string) { return slices.Sorted(maps.Keys(m)) }

func (s *story) someText() string {
	for s.chance(3) {
		if t := s.pick(odd); !s.whole || !strings.Contains(t, half) {
			return t
		}
	}
	return s.pick(plain)
}

// session picks a session: usually a live one, sometimes one that is deleted or never existed.
func (s *story) session() string {
	switch {
	case len(s.live) > 0 && !s.chance(6):
		return "${{ " + s.pick(s.live) + " }}"
	case len(s.gone) > 0 && !s.chance(4):
		return "${{ " + s.pick(s.gone) + " }}"
	}
	return "${{ unknown }}"
}

// thing returns what an entry of a table stands for: JSON, or a value of the kind after the @.
func (s *story) thing(choice string) *node {
	switch choice {
	case "@session":
		return text(s.session())
	case "@client":
		return text("${{ " + s.pick([]string{"client", "other"}) + " }}")
	case "@tool":
		return text(s.pick(tools))
	case "@extension":
		return text(s.pick(s.names))
	case "@odd":
		return text(s.someText())
	case "@free":
		return s.freeObject()
	case "@metadata":
		return object("userVisible", parse(s.pick([]string{"true", "true", "false"})), "agentVisible", parse(s.pick([]string{"true", "true", "false"})))
	case "@values":
		out := object()
		for _, key := range []string{"a", "b", s.someText()} {
			if !s.chance(4) {
				out.Set(key, text(s.someText()))
			}
		}
		return out
	case "@exported":
		n := s.value(&openapi3.SchemaRef{Ref: "/Session", Value: s.g.api.Components.Schemas["Session"].Value}, "", "")
		if s.chance(3) {
			n = s.twist(n)
		}
		return text(n.String())
	}
	return parse(choice)
}

// add appends a group of steps.
func (s *story) add(steps ...string) {
	g := Group{Steps: steps}
	all := strings.Join(steps, "")
	for _, m := range gives.FindAllStringSubmatch(all, -1) {
		g.gives = append(g.gives, m[1]+m[2])
	}
	for _, m := range needs.FindAllStringSubmatch(all, -1) {
		if name := m[1] + m[2]; !slices.Contains(g.gives, name) {
			g.needs = append(g.needs, name)
		}
	}
	s.out.Groups = append(s.out.Groups, g)
}

var (
	gives = regexp.MustCompile(`(?m)^- (?:open|start): (\w+)|capture: \{"?(\w+)`)
	needs = regexp.MustCompile(`(?m)\$\{\{ (\w+) \}\}|^- (?:await|close|join): (\w+)`)
)

// step returns a step that sends a request. The contract decides whether the request is marked as malformed.
func (s *story) step(method, path string, body *node, more ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- http: %s\n", yamldoc.Scalar(method+" "+path))
	b.WriteString(s.body(method, path, body))
	for _, free := range freeWords {
		if free.path.MatchString(path) {
			fmt.Fprintf(&b, "  compare: {volatile: %s}\n", free.rules)
		}
	}
	for _, m := range more {
		b.WriteString("  " + m + "\n")
	}
	return b.String()
}

// freeWords are texts that each server words in its own way.
var freeWords = []struct {
	path  *regexp.Regexp
	rules string
}{
	{regexp.MustCompile(`^/agent/start|/user_recipe_values$`), `[{at: $.message, kind: text, because: what is wrong with a recipe is said in free words}]`},
	{regexp.MustCompile(`^/diagnostics/`), `[{at: "$['system.txt'][1,2,3]", kind: text, because: each language names its platform in its own way},
    {at: "$.*[*].error", kind: text, because: that a connection broke is logged in free words}]`},
}

// body returns the body of a request, and marks the request if it is malformed.
func (s *story) body(method, path string, body *node) string {
	var out, typed string
	var sent []byte
	if body != nil {
		if !sayable(body) && expression.MatchString(s.known(body.String(), encoded)) { // raw text cannot escape captured values
			body = parse(strings.ReplaceAll(body.String(), `\ud83d`, `\ufffd`))
		}
		sent, typed = []byte(s.known(body.String(), encoded)), "application/json"
		if sayable(body) {
			out = "  json: " + yamldoc.Flow(body) + "\n"
		} else {
			out = "  raw: {text: " + yamldoc.Scalar(string(sent)) + ", type: application/json}\n"
		}
	}
	if s.malformed(method, path, sent, typed) {
		out += "  malformed: true\n"
	}
	return out
}

func (s *story) malformed(method, path string, body []byte, typed string) bool {
	h := transcript.Header{{Name: "X-Secret-Key", Value: "test"}}
	if typed != "" {
		h = append(h, transcript.Field{Name: "Content-Type", Value: typed})
	}
	target := expression.ReplaceAllStringFunc(path, func(e string) string { return url.PathEscape(s.known(e, nil)) })
	return len(s.g.contract.CheckRequest(method, target, h, body)) > 0
}

var expression = regexp.MustCompile(`\$\{\{ (\w+) \}\}`)

// known replaces the variables of the sequence in a text. Expressions without a value before the run stay, except in
// paths, where a session ID replaces them.
func (s *story) known(in string, quote func(any) string) string {
	return expression.ReplaceAllStringFunc(in, func(e string) string {
		name := expression.FindStringSubmatch(e)[1]
		value, ok := s.out.vars[name]
		switch {
		case ok && quote != nil:
			value = jsontree.Join((&node{Kind: jsontree.String, Text: value}).String())
			return value[1 : len(value)-1]
		case ok:
			return value
		case quote == nil:
			return "20250101_1"
		}
		return e
	})
}

// start creates a session that can answer, with or without a recipe.
func (s *story) start() {
	id, body := s.name("session"), object("working_dir", s.pick([]string{"/w", "/tmp", "/"}))
	if s.chance(2) {
		body.Set("recipe", s.recipe())
	}
	in := text("${{ " + id + " }}")
	s.add(
		s.step("POST", "/agent/start", body, "capture: {"+id+": $.id}"),
		s.step("PUT", "/sessions/"+in.Text+"/name", object("name", "Named")),
		s.step("POST", "/agent/update_provider", object("session_id", in, "provider", s.pick([]string{"openai", "openai", "anthropic"}), "model", "gpt-4o")),
	)
	s.live = append(s.live, id)
}

// recipe returns a random valid recipe: its variables are exactly its parameters.
func (s *story) recipe() *node {
	out := object("title", s.safe(), "description", s.safe(), "instructions", "Do {{ a }}"+s.safe())
	parameters := parse(`[{"key":"a","input_type":"string","requirement":"required","description":"A"}]`)
	if !s.chance(3) {
		second := parse(`{"key":"b","input_type":"string","requirement":"optional","description":"B"}`)
		second.Items[3] = text(s.safe())
		second.Set("default", text(s.safe()))
		parameters.Items = append(parameters.Items, second)
		out.Set("prompt", text("{{ b }}"+s.template()+s.template()))
	}
	out.Set("parameters", parameters)
	if s.chance(3) {
		out.Set("activities", list(text(s.safe())))
		out.Set("settings", parse(`{"goose_provider":"openai","temperature":0.5}`))
	}
	if s.chance(3) {
		out.Set("response", object("json_schema", object("type", "object", "properties", object(s.pick(tools[:4]), object("type", "string")))))
	}
	return out
}

// template returns a random piece of a recipe template.
func (s *story) template() string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s.pick(templates), "ODD", "\x1a") {
		switch r {
		case 'F':
			b.WriteString(s.pick(filters))
		case '\x1a':
			b.WriteString(`"` + strings.NewReplacer(`"`, "", `\`, "").Replace(s.safe()) + `"`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// safe returns a random text that has no template syntax.
func (s *story) safe() string {
	for {
		if t := s.someText(); !strings.Contains(t, "{") && !strings.Contains(t, half) {
			return t
		}
	}
}

// message returns a message of the user: words that the model has a rule for, or any message.
func (s *story) message(words string) *node {
	if words == "" {
		s.whole = true
		defer func() { s.whole = false }()
		return s.value(s.g.api.Components.Schemas["ChatRequest"].Value.Properties["messages"].Value.Items, "ChatRequest", "message")
	}
	content := object("type", "text", "text", words+" "+s.answer(words)+" "+s.safe())
	return object("role", "user", "created", parse(s.pick([]string{"100", "200", "1765386000"})), "content", list(content),
		"metadata", s.thing("@metadata"))
}

func (s *story) chat(id, words string) *node {
	metadata := s.message(words)
	if words != "" {
		metadata.Items[3] = parse(`{"userVisible":true,"agentVisible":true}`)
	}
	return object("session_id", id, "messages", list(metadata))
}

func (s *story) open(stream string, body *node) string {
	return "- open: " + stream + "\n  sse: POST /reply\n" + s.body("POST", "/reply", body)
}

// reply sends a message and reads the reply to its end.
func (s *story) reply() {
	words := []string{"Hello", "Odd", "Fail", "Cut", ""}
	if !s.ask {
		words = append(words, "Use it", "Use it", "Use both", "Torn")
	}
	body, stream := s.chat(s.session(), s.pick(words)), s.name("reply")
	if s.chance(6) {
		if broken := s.step("POST", "/reply", s.twist(parse(body.String()))); strings.Contains(broken, "malformed: true") {
			s.add(broken)
			return
		}
	}
	s.add(s.open(stream, body), "- await: "+stream+"\n  end: server\n")
}

// meanwhile edits a session while a reply is running: while the model hangs, or the user is being asked.
func (s *story) meanwhile() {
	if len(s.live) == 0 {
		return
	}
	id, stream := s.pick(s.live), s.name("reply")
	in := "${{ " + id + " }}"
	words, until, end := "Hang", "", "- close: "+stream+"\n"
	if s.ask {
		words, until = "Use it", "- await: "+stream+"\n  match: {event: Message, json: {\"$.message.content[0].type\": actionRequired}}\n"
		end = s.step("POST", "/action-required/tool-confirmation", object("id", "call_1", "action", s.pick([]string{"allow_once", "deny"}), "sessionId", in)) +
			"- await: " + stream + "\n  end: server\n"
	}
	steps := []string{s.step("POST", "/agent/update_provider", object("session_id", in, "provider", "openai", "model", "gpt-4o")), s.open(stream, s.chat(in, words))}
	if until == "" {
		until = fmt.Sprintf("- asked: llm.answer%d\n", len(s.out.rules))
	}
	steps = append(steps, until)
	deleted := false
	for range 1 + s.Intn(3) {
		edit := s.edit(in)
		steps, deleted = append(steps, edit), deleted || strings.Contains(edit, "DELETE")
	}
	s.add(append(steps, end, s.step("GET", "/sessions/"+in, nil))...)
	if deleted {
		s.forget(id)
	}
}

// edit changes a session, or reads it.
func (s *story) edit(in string) string {
	switch id := text(in); s.Intn(8) {
	case 0:
		return s.step("DELETE", "/sessions/"+in, nil)
	case 1:
		return s.step("PUT", "/sessions/"+in+"/name", object("name", s.someText()))
	case 2:
		return s.step("POST", "/agent/remove_extension", object("session_id", id, "name", s.pick(s.names)))
	case 3:
		return s.step("POST", "/sessions/"+in+"/edit_message", object("timestamp", s.thing(s.pick(members["timestamp"])), "editType", "edit"))
	case 4:
		return s.step("POST", "/agent/stop", object("session_id", id))
	case 5:
		return s.step("PUT", "/sessions/"+in+"/user_recipe_values", object("userRecipeValues", s.thing("@values")))
	case 6:
		return s.step("POST", "/agent/update_from_session", object("session_id", id))
	}
	return s.step("GET", "/sessions/"+in, nil)
}

func (s *story) forget(id string) {
	s.live = slices.DeleteFunc(s.live, func(l string) bool { return l == id })
	s.gone = append(s.gone, id)
}

// remove deletes a session, then requests it once more.
func (s *story) remove() {
	if len(s.live) == 0 {
		s.start()
		return
	}
	id := s.pick(s.live)
	s.add(s.step("DELETE", "/sessions/${{ "+id+" }}", nil), s.step("GET", "/sessions/${{ "+id+" }}", nil))
	s.forget(id)
}

// copied exports a session and imports the result.
func (s *story) copied() {
	if len(s.live) == 0 {
		return
	}
	whole, id := s.name("text"), s.name("session")
	in := "${{ " + id + " }}"
	s.add(s.step("GET", "/sessions/${{ "+s.pick(s.live)+" }}/export", nil, "capture: {"+whole+": $}"),
		s.step("POST", "/sessions/import", object("json", "${{ "+whole+" }}"), "capture: {"+id+": $.id}"),
		s.step("PUT", "/sessions/"+in+"/name", object("name", "Copy")))
	s.live = append(s.live, id)
}

// imported imports a session whose messages no server has written, and then sends it a message.
func (s *story) imported() {
	s.whole = true
	defer func() { s.whole = false }()
	session := s.value(&openapi3.SchemaRef{Ref: "/Session", Value: s.g.api.Components.Schemas["Session"].Value}, "", "")
	list := &node{Kind: jsontree.Array}
	for range s.Intn(6) {
		list.Items = append(list.Items, s.value(&openapi3.SchemaRef{Ref: "/Message", Value: s.g.api.Components.Schemas["Message"].Value}, "", ""))
	}
	session.Set("conversation", list)
	id, stream := s.name("session"), s.name("reply")
	in := "${{ " + id + " }}"
	s.add(s.step("POST", "/sessions/import", object("json", session.String()), "capture: {"+id+": $.id}"),
		s.step("PUT", "/sessions/"+in+"/name", object("name", "Imported")),
		s.step("POST", "/agent/update_provider", object("session_id", in, "provider", s.pick([]string{"openai", "anthropic"}), "model", "gpt-4o")),
		s.open(stream, s.chat(in, "Hello")), "- await: "+stream+"\n  end: server\n", s.step("GET", "/sessions/"+in, nil))
	s.live = append(s.live, id)
}

// generic requests an operation of the contract with values from its schemas and the tables.
func (s *story) generic(o operation) {
	path := o.path
	for _, p := range o.Parameters {
		value := p.Value
		switch {
		case value.In == openapi3.ParameterInPath:
			path = strings.ReplaceAll(path, "{"+value.Name+"}", s.thing(members[value.Name][0]).Text)
		case value.In == openapi3.ParameterInQuery && value.Required:
			path += "?" + value.Name + "=" + s.thing(members[value.Name][0]).Text
		case value.In == openapi3.ParameterInQuery && value.Name == "extension_name" && s.chance(3):
			path += "&" + value.Name + "=" + url.QueryEscape(s.pick(s.names))
		}
	}
	if o.RequestBody == nil {
		s.add(s.step(o.method, path, nil))
		return
	}
	body := s.value(o.RequestBody.Value.Content.Get("application/json").Schema, "", "")
	if s.chance(2) {
		body = s.twist(body)
	}
	s.add(s.step(o.method, path, body))
}
