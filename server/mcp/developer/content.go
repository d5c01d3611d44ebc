package developer

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An item is one of a result. The library cannot write a priority of 0.
type item struct {
	mcp.Content // none; it makes this one of the library's
	json        json.RawMessage
}

// MarshalJSON returns the item as it is.
func (i item) MarshalJSON() ([]byte, error) { return i.json, nil }

// annotations say for whom an item is.
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
		panic(err) // all of it is texts
	}
	return item{json: raw}
}

// text is an item with a text; without notes it is for both.
func text(text string, notes *annotations) item {
	return newItem(struct {
		Type        string       `json:"type"`
		Text        string       `json:"text"`
		Annotations *annotations `json:"annotations,omitempty"`
	}{"text", text, notes})
}

// says returns a text for the model and one for the user.
func says(assistant, user string, notes *annotations) []mcp.Content {
	return []mcp.Content{text(assistant, forAssistant), text(user, notes)}
}
