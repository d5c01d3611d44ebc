package sequences

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A story decides what the steps of one sequence do, and knows what the steps so far have created.
type story struct {
	g        *Generator
	sequence *Sequence
	values   *values
	out      *writer
	clients  *clientTools // nil if the sequence does not use the client-tools family
	ask      bool         // the server asks before each tool call (GOOSE_MODE approve)
	// The settings may have been written. From then on no archive with them is requested: their layout is not specified (decision G40).
	configured bool
}

// start creates a session that can answer, with or without a recipe.
func (s *story) start() {
	id, body := s.out.name("session"), object("working_dir", s.values.pick([]string{"/w", "/tmp", "/"}))
	if s.values.chance(2) {
		body.Set("recipe", s.values.recipe())
	}
	in := text("${{ " + id + " }}")
	s.out.add(
		s.out.step("POST", "/agent/start", body, "capture: {"+id+": $.id}"),
		s.out.step("PUT", "/sessions/"+in.Text+"/name", object("name", "Named")),
		s.out.step("POST", "/agent/update_provider", object("session_id", in, "provider", s.values.pick([]string{"openai", "openai", "anthropic"}), "model", "gpt-4o")),
	)
	s.values.live = append(s.values.live, id)
}

// message returns a message of the user: words that the model has a rule for, or any message.
func (s *story) message(words string) *node {
	if words == "" {
		s.values.whole = true
		defer func() { s.values.whole = false }()
		return s.values.value(s.values.schemas["ChatRequest"].Value.Properties["messages"].Value.Items, "ChatRequest", "message")
	}
	content := object("type", "text", "text", words+" "+s.answer(words)+" "+s.values.safe())
	return object("role", "user", "created", parse(s.values.pick([]string{"100", "200", "1765386000"})), "content", list(content),
		"metadata", s.values.thing("@metadata"))
}

func (s *story) chat(id, words string) *node {
	metadata := s.message(words)
	if words != "" {
		metadata.Items[3] = parse(`{"userVisible":true,"agentVisible":true}`)
	}
	return object("session_id", id, "messages", list(metadata))
}

// reply sends a message and reads the reply to its end.
func (s *story) reply() {
	words := []string{"Hello", "Odd", "Fail", "Cut", ""}
	if !s.ask {
		words = append(words, "Use it", "Use it", "Use both", "Torn")
	}
	body, stream := s.chat(s.values.session(), s.values.pick(words)), s.out.name("reply")
	if s.values.chance(6) {
		if broken := s.out.step("POST", "/reply", s.values.twist(parse(body.String()))); strings.Contains(broken, "malformed: true") {
			s.out.add(broken)
			return
		}
	}
	s.out.add(s.out.open(stream, body), "- await: "+stream+"\n  end: server\n")
}

// meanwhile edits a session while a reply is running: while the model hangs, or the user is being asked.
func (s *story) meanwhile() {
	if len(s.values.live) == 0 {
		return
	}
	id, stream := s.values.pick(s.values.live), s.out.name("reply")
	in := "${{ " + id + " }}"
	words, until, end := "Hang", "", "- close: "+stream+"\n"
	if s.ask {
		words, until = "Use it", "- await: "+stream+"\n  match: {event: Message, json: {\"$.message.content[0].type\": actionRequired}}\n"
		end = s.out.step("POST", "/action-required/tool-confirmation", object("id", "call_1", "action", s.values.pick([]string{"allow_once", "deny"}), "sessionId", in)) +
			"- await: " + stream + "\n  end: server\n"
	}
	steps := []string{s.out.step("POST", "/agent/update_provider", object("session_id", in, "provider", "openai", "model", "gpt-4o")), s.out.open(stream, s.chat(in, words))}
	if until == "" {
		until = fmt.Sprintf("- asked: llm.answer%d\n", len(s.sequence.rules))
	}
	steps = append(steps, until)
	deleted := false
	for range 1 + s.values.Intn(3) {
		edit := s.edit(in)
		steps, deleted = append(steps, edit), deleted || strings.Contains(edit, "DELETE")
	}
	s.out.add(append(steps, end, s.out.step("GET", "/sessions/"+in, nil))...)
	if deleted {
		s.forget(id)
	}
}

// edit changes a session, or reads it.
func (s *story) edit(in string) string {
	switch id := text(in); s.values.Intn(8) {
	case 0:
		return s.out.step("DELETE", "/sessions/"+in, nil)
	case 1:
		return s.out.step("PUT", "/sessions/"+in+"/name", object("name", s.values.someText()))
	case 2:
		return s.out.step("POST", "/agent/remove_extension", object("session_id", id, "name", s.values.pick(s.values.names)))
	case 3:
		return s.out.step("POST", "/sessions/"+in+"/edit_message", object("timestamp", s.values.thing(s.values.pick(members["timestamp"])), "editType", "edit"))
	case 4:
		return s.out.step("POST", "/agent/stop", object("session_id", id))
	case 5:
		return s.out.step("PUT", "/sessions/"+in+"/user_recipe_values", object("userRecipeValues", s.values.thing("@values")))
	case 6:
		return s.out.step("POST", "/agent/update_from_session", object("session_id", id))
	}
	return s.out.step("GET", "/sessions/"+in, nil)
}

func (s *story) forget(id string) {
	s.values.live = slices.DeleteFunc(s.values.live, func(l string) bool { return l == id })
	s.values.gone = append(s.values.gone, id)
}

// remove deletes a session, then requests it once more.
func (s *story) remove() {
	if len(s.values.live) == 0 {
		s.start()
		return
	}
	id := s.values.pick(s.values.live)
	s.out.add(s.out.step("DELETE", "/sessions/${{ "+id+" }}", nil), s.out.step("GET", "/sessions/${{ "+id+" }}", nil))
	s.forget(id)
}

// copied exports a session and imports the result.
func (s *story) copied() {
	if len(s.values.live) == 0 {
		return
	}
	whole, id := s.out.name("text"), s.out.name("session")
	in := "${{ " + id + " }}"
	s.out.add(s.out.step("GET", "/sessions/${{ "+s.values.pick(s.values.live)+" }}/export", nil, "capture: {"+whole+": $}"),
		s.out.step("POST", "/sessions/import", object("json", "${{ "+whole+" }}"), "capture: {"+id+": $.id}"),
		s.out.step("PUT", "/sessions/"+in+"/name", object("name", "Copy")))
	s.values.live = append(s.values.live, id)
}

// imported imports a session whose messages no server has written, and then sends it a message.
func (s *story) imported() {
	s.values.whole = true
	defer func() { s.values.whole = false }()
	session := s.values.named("Session")
	list := &node{Kind: jsontree.Array}
	for range s.values.Intn(6) {
		list.Items = append(list.Items, s.values.named("Message"))
	}
	session.Set("conversation", list)
	id, stream := s.out.name("session"), s.out.name("reply")
	in := "${{ " + id + " }}"
	s.out.add(s.out.step("POST", "/sessions/import", object("json", session.String()), "capture: {"+id+": $.id}"),
		s.out.step("PUT", "/sessions/"+in+"/name", object("name", "Imported")),
		s.out.step("POST", "/agent/update_provider", object("session_id", in, "provider", s.values.pick([]string{"openai", "anthropic"}), "model", "gpt-4o")),
		s.out.open(stream, s.chat(in, "Hello")), "- await: "+stream+"\n  end: server\n", s.out.step("GET", "/sessions/"+in, nil))
	s.values.live = append(s.values.live, id)
}

// generic requests an operation of the contract with values from its schemas and the tables.
func (s *story) generic(o operation) {
	if o.OperationID == "getDiagnostics" && s.configured {
		return
	}
	s.configured = s.configured || o.method != http.MethodGet && strings.HasPrefix(o.path, "/config/")
	path := o.path
	for _, p := range o.Parameters {
		value := p.Value
		switch {
		case value.In == openapi3.ParameterInPath:
			path = strings.ReplaceAll(path, "{"+value.Name+"}", s.inPath(o.OperationID, value.Name))
		case value.In == openapi3.ParameterInQuery && (value.Required || value.Name == "sessionID"):
			path += "?" + value.Name + "=" + s.values.thing(members[value.Name][0]).Text
		case value.In == openapi3.ParameterInQuery && value.Name == "extension_name" && s.values.chance(3):
			path += "&" + value.Name + "=" + url.QueryEscape(s.values.pick(s.values.names))
		}
	}
	if o.RequestBody == nil {
		s.out.add(s.out.step(o.method, path, nil))
		return
	}
	body := s.values.value(o.RequestBody.Value.Content.Get("application/json").Schema, "", "")
	if s.values.chance(2) {
		body = s.values.twist(body)
	}
	s.out.add(s.out.step(o.method, path, body))
}

// inPath returns a value for a parameter in the path. A captured value is not escaped here.
func (s *story) inPath(operation, name string) string {
	choice, own := members[operation+"."+name]
	if !own {
		choice = members[name]
	}
	text := s.values.thing(choice[0]).Text
	if expression.MatchString(text) {
		return text
	}
	return url.PathEscape(text)
}
