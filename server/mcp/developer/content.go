package developer

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An item is one item of a result. It writes its own JSON, because the library cannot write a priority of 0.
type item struct {
	mcp.Content // nil; embedded to implement the library's interface
	json        json.RawMessage
}

// MarshalJSON returns the item unchanged.
func (i item) MarshalJSON() ([]byte, error) { return i.json, nil }

// annotations say who an item is for.
type annotations struct {
	Audience []string     `json:"audience"`
	Priority *json.Number `json:"priority,omitempty"`
}

var (
	forAssistant = &annotations{Audience: []string{"assistant"}}
	forUser      = userAt("0.2")
	behindOthers = userAt("0")
)

func userAt(priority json.Number) *annotations {
	return &annotations{[]string{"user"}, &priority}
}

func newItem(fields any) item {
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err) // it has only texts and numbers
	}
	return item{json: raw}
}

// text returns an item with a text. Without annotations it is for both the model and the user.
func text(text string, notes *annotations) item {
	return newItem(struct {
		Type        string       `json:"type"`
		Text        string       `json:"text"`
		Annotations *annotations `json:"annotations,omitempty"`
	}{"text", text, notes})
}

// says returns one text for the model and one for the user.
func says(assistant, user string, notes *annotations) []mcp.Content {
	return []mcp.Content{text(assistant, forAssistant), text(user, notes)}
}
