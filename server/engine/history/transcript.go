package history

import (
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// Transcript returns the agent's view of the conversation as one text, to be summarised (decision M23). It includes
// the results of tools if results is true.
func Transcript(conversation []message.Message, results bool) string {
	var blocks []string
	for _, m := range conversation {
		if !m.Metadata.AgentVisible {
			continue
		}
		for _, item := range m.Content {
			switch c := item.(type) {
			case message.Text:
				blocks = append(blocks, string(m.Role)+": "+c.Text)
			case message.Image:
				blocks = append(blocks, "user: [image]")
			case message.ToolRequest:
				if c.Call.Error == nil {
					blocks = append(blocks, "assistant calls "+c.Call.Value.Name+" "+string(message.ObjectOrEmpty(c.Call.Value.Arguments)))
				}
			case message.ToolResponse:
				if results {
					blocks = append(blocks, "tool answers: "+message.ResultText(c.Result))
				}
			}
		}
	}
	return strings.Join(blocks, "\n\n")
}

// Estimate estimates the number of tokens in the agent's view of a conversation (decision M26).
func Estimate(conversation []message.Message) int64 {
	bytes := 0
	for _, m := range conversation {
		if !m.Metadata.AgentVisible {
			continue
		}
		for _, item := range m.Content {
			switch c := item.(type) {
			case message.Text:
				bytes += len(c.Text)
			case message.ToolRequest:
				bytes += len(c.Call.Value.Arguments)
			case message.ToolResponse:
				bytes += len(message.ResultText(c.Result))
			}
		}
	}
	return int64(bytes+3) / 4
}

// LatestText returns the index of the user's latest plain text, or -1 if there is none (decision M25).
func LatestText(conversation []message.Message) int {
	for i := len(conversation) - 1; i >= 0; i-- {
		m := conversation[i]
		if !m.Metadata.AgentVisible || kindOf(m) != fromUser {
			continue
		}
		if _, ok := m.PlainText(); ok {
			return i
		}
	}
	return -1
}
