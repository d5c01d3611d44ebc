package extensions

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
)

// openPlatform returns an extension that is a part of this server (GA 6.7).
func (s *Set) openPlatform(config extension.Config) (provider, error) {
	switch extension.Key(config.Name) {
	case "todo":
		return &todo{set: s, limit: s.connector.TodoLimit}, nil
	case "chatrecall":
		return &chatrecall{sessions: s.connector.Sessions, own: s.sessionID}, nil
	case "skills":
		return &skillbook{inProcess{}, s}, nil
	case "extensionmanager":
		return &manager{inProcess{}, s}, nil
	}
	return nil, reason("Unknown platform extension: " + config.Name)
}

// inProcess is what the extensions have in common that are parts of this server: nothing of what others have.
type inProcess struct{}

func (inProcess) frontend() []llm.Tool                { return nil }
func (inProcess) instructions(context.Context) string { return "" }
func (inProcess) note(context.Context) string         { return "" }
func (inProcess) close()                              {}

// says is the result of a tool that has this to say.
func says(text string) message.Result[[]message.ToolContent] {
	return message.Success([]message.ToolContent{message.ToolText{Text: text}})
}

// fails is the result of a tool that could not do it, which is a success all the same (decision X26).
func fails(text string) message.Result[[]message.ToolContent] { return says("Error: " + text) }

// arguments are what a tool is called with, and the first thing that is wrong with them. What is null is absent.
type arguments struct {
	values map[string]jsonwire.Text
	wrong  string
}

func argumentsOf(raw json.RawMessage) *arguments {
	a := &arguments{values: map[string]jsonwire.Text{}}
	object, err := jsonwire.Parse(object(raw))
	if err != nil || object.Kind() != "object" {
		return a
	}
	for name, value := range object.Members() {
		if value.Kind() != "null" {
			a.values[name.Str()] = value
		}
	}
	return a
}

// invalid notes that an argument cannot be used, unless something else is wrong already.
func (a *arguments) invalid(name string) { a.note("Invalid argument: " + name) }

func (a *arguments) missing(name string) { a.note("Missing required parameter: " + name) }

func (a *arguments) note(wrong string) {
	if a.wrong == "" {
		a.wrong = wrong
	}
}

// has says whether there is an argument.
func (a *arguments) has(name string) bool {
	_, there := a.values[name]
	return there
}

// text returns an argument that must be a text, empty if there is none.
func (a *arguments) text(name string) string {
	value, there := a.values[name]
	if !there {
		return ""
	}
	if value.Kind() != "string" {
		a.invalid(name)
		return ""
	}
	return value.Str()
}

// need returns an argument that must be there, and a text.
func (a *arguments) need(name string) string {
	if !a.has(name) {
		a.missing(name)
	}
	return a.text(name)
}

// within returns an argument that must be an integer by value: what is less than 1 is 1, and what is more than the most is
// that. If there is none it is the default.
func (a *arguments) within(name string, byDefault, most int) int {
	value, there := a.values[name]
	if !there {
		return byDefault
	}
	n, ok := value.Integer()
	if !ok {
		a.invalid(name)
		return byDefault
	}
	return int(max(min(n, int64(most)), 1))
}

// time returns an argument that is a date and time (decision G3), else nil.
func (a *arguments) time(name string) *time.Time {
	value, err := decode.Parse(a.values[name])
	if err != nil {
		return nil
	}
	t, err := value.Time()
	if err != nil {
		return nil
	}
	return &t
}
