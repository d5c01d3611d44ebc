//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// A client creates, renames and imports sessions, and sends messages in them. It records what is acknowledged.
type client struct {
	api  *api
	all  *ledger
	rng  *rand.Rand
	mine []*story
	// ready has the client's sessions whose agent got a model since the server started.
	ready map[*story]bool
}

// act does one thing. The client stops at an error.
func (c *client) act() error {
	switch n := c.rng.IntN(10); {
	case n < 2 || len(c.mine) == 0:
		return c.create()
	case n < 3:
		return c.importOne()
	case n < 5:
		return c.rename(c.anyOfMine())
	default:
		return c.reply(c.anyOfMine())
	}
}

func (c *client) anyOfMine() *story { return c.mine[c.rng.IntN(len(c.mine))] }

// key returns a unique word.
func (c *client) key() string { return fmt.Sprintf("%016x", c.rng.Uint64()) }

type object map[string]any

func (c *client) create() error {
	answer, err := c.api.do("POST", "/agent/start", object{"working_dir": "/w"})
	if err != nil {
		return err
	}
	return c.began(answer, nil)
}

// importOne imports a session with messages.
func (c *client) importOne() error {
	key := c.key()
	said := []string{"one " + key, "two " + key, "three " + key}
	messages := make([]object, len(said))
	for i, text := range said {
		messages[i] = message([]string{"user", "assistant"}[i%2], text)
	}
	export, err := json.Marshal(object{
		"id": "x", "working_dir": "/w", "name": "imported " + key, "user_set_name": true, "extension_data": object{}, "message_count": len(said),
		"created_at": "2025-12-10T16:59:31Z", "updated_at": "2025-12-10T16:59:31Z", "conversation": messages,
	})
	if err != nil {
		return err
	}
	answer, err := c.api.do("POST", "/sessions/import", object{"json": string(export)})
	if err != nil {
		return err
	}
	c.all.imports.Add(1)
	return c.began(answer, said)
}

func message(role, text string) object {
	return object{
		"role": role, "created": 1765386000, "content": []object{{"type": "text", "text": text}},
		"metadata": object{"userVisible": true, "agentVisible": true},
	}
}

// began records a session that the server has created.
func (c *client) began(answer []byte, said []string) error {
	var made struct{ ID, Name string }
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	s := &story{id: made.ID, name: made.Name, said: said, named: said != nil}
	c.mine = append(c.mine, s)
	c.all.add(s)
	return nil
}

func (c *client) rename(s *story) error {
	s.tried = "named " + c.key()
	if _, err := c.api.do("PUT", "/sessions/"+s.id+"/name", object{"name": s.tried}); err != nil {
		return err
	}
	s.name, s.tried, s.named = s.tried, "", true
	c.all.renamings.Add(1)
	return nil
}

// reply sends a message in a session. It first renames a session that the user has not named, because the model would
// otherwise name it at an unknown time.
func (c *client) reply(s *story) error {
	if !s.named {
		return c.rename(s)
	}
	if !c.ready[s] {
		if _, err := c.api.do("POST", "/agent/update_provider", object{"session_id": s.id, "provider": "openai", "model": "gpt-4o"}); err != nil {
			return err
		}
		if c.ready == nil {
			c.ready = map[*story]bool{}
		}
		c.ready[s] = true
	}
	text := []string{"ask-plain-", "ask-tool-"}[c.rng.IntN(2)] + c.key()
	s.perhaps = saved(text)
	answer, err := c.api.do("POST", "/reply", object{"session_id": s.id, "messages": []object{message("user", text)}})
	switch {
	case err != nil:
		return err
	case !strings.Contains(string(answer), `{"type":"Finish"`) || strings.Contains(string(answer), `"type":"Error"`):
		return fmt.Errorf("a reply that does not finish: %s", answer)
	}
	s.said, s.perhaps = append(s.said, s.perhaps...), nil
	c.all.replies.Add(1)
	return nil
}

// saved returns the messages that a reply to a text saves in its session, in the form of [said].
func saved(text string) []string {
	answer := "You said " + text + "."
	if strings.HasPrefix(text, "ask-tool-") {
		return []string{text, "I look.", "toolRequest call-" + text, "toolResponse call-" + text, answer}
	}
	return []string{text, answer}
}

var asked = regexp.MustCompile(`ask-(?:plain|tool)-[0-9a-f]{16}`)

// scripted is the model. It answers the last text. If the text asks for it, it first calls a tool, which does not
// exist; the answer about that is saved like any other.
func scripted(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the server was killed
	}
	var request struct{ Messages []struct{ Role string } }
	all := asked.FindAllString(string(body), -1)
	if err := json.Unmarshal(body, &request); err != nil || len(all) == 0 || len(request.Messages) == 0 {
		http.Error(w, "this is not asked by any client", http.StatusBadRequest)
		return
	}
	text := all[len(all)-1]
	if strings.HasPrefix(text, "ask-tool-") && request.Messages[len(request.Messages)-1].Role != "tool" {
		call := fmt.Sprintf(`{"id":"c","model":"m","choices":[{"delta":{"tool_calls":[{"index":0,"id":%q,"function":{"name":"none__such","arguments":"{}"}}]}}]}`, "call-"+text)
		llmtest.Events(w, append([]string{llmtest.Says("c", "I look.")[0], call}, llmtest.End("c", "tool_calls", 10, 5)...)...)
		return
	}
	llmtest.Events(w, llmtest.Says("c", "You ", "said ", text, ".")...)
}
