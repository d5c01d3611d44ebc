// Package history prepares conversations for a model. It selects what the model sees, in a form that its provider
// accepts (GA 18.2), and adds a note about the present (GA 7.6). It also writes the transcript for a summary
// (GA 7.10). It never changes what is stored.
package history

import (
	"slices"
	"strings"
	"unicode"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// A kind is a kind of message. Neighbours of the same kind are merged into one message.
type kind int

const (
	fromAssistant kind = iota
	fromUser
	fromTools
)

func kindOf(m message.Message) kind {
	if m.Role == message.Assistant {
		return fromAssistant
	}
	if slices.ContainsFunc(m.Content, isResponse) {
		return fromTools
	}
	return fromUser
}

func isResponse(c message.Content) bool {
	_, ok := c.(message.ToolResponse)
	return ok
}

// Repair returns what a model sees of a conversation, by the steps of decision M18 in order. It does not change the
// argument. Its cost is proportional to the conversation, however often the steps must be repeated.
func Repair(conversation []message.Message) []message.Message {
	messages := visible(conversation)
	mergeTexts(messages)
	trimTexts(messages)
	messages = dropEmpty(messages)
	messages = dropLoose(messages)
	messages = mergeNeighbours(messages)
	messages = settle(messages)
	mergeTexts(messages)
	if len(messages) == 0 {
		return []message.Message{{
			Role: message.User, Content: []message.Content{message.Text{Text: "Hello"}}, Metadata: message.Visible,
		}}
	}
	return messages
}

// visible copies the messages that the agent may see, without the items for others.
func visible(conversation []message.Message) []message.Message {
	var seen []message.Message
	for _, m := range conversation {
		if !m.Metadata.AgentVisible {
			continue
		}
		role := m.Role
		m.Content = slices.DeleteFunc(slices.Clone(m.Content), func(c message.Content) bool { return isForOthers(role, c) })
		seen = append(seen, m)
	}
	return seen
}

// isForOthers reports whether models never see such an item in a message of that role.
func isForOthers(role message.Role, c message.Content) bool {
	switch c.(type) {
	case message.ActionRequired, message.SystemNotification, message.ToolConfirmationRequest, message.FrontendToolRequest:
		return true
	case message.ToolResponse:
		return role == message.Assistant
	case message.ToolRequest, message.Thinking, message.RedactedThinking:
		return role != message.Assistant
	}
	return false
}

// mergeTexts merges adjacent texts of the assistant.
func mergeTexts(messages []message.Message) {
	for i, m := range messages {
		if m.Role != message.Assistant {
			continue
		}
		var merged []message.Content
		for rest := m.Content; len(rest) > 0; {
			length := 0
			for length < len(rest) && isText(rest[length]) {
				length++
			}
			if length > 0 {
				merged = append(merged, joined(rest[:length]))
			} else {
				length = 1
				merged = append(merged, rest[0])
			}
			rest = rest[length:]
		}
		messages[i].Content = merged
	}
}

func isText(c message.Content) bool {
	_, ok := c.(message.Text)
	return ok
}

// joined concatenates texts.
func joined(texts []message.Content) message.Text {
	whole := texts[0].(message.Text)
	if len(texts) > 1 {
		var b strings.Builder
		for _, text := range texts {
			b.WriteString(text.(message.Text).Text)
		}
		whole.Text = b.String()
	}
	return whole
}

// trimTexts removes white space at the end of the assistant's texts.
func trimTexts(messages []message.Message) {
	for _, m := range messages {
		if m.Role != message.Assistant {
			continue
		}
		for i, item := range m.Content {
			if text, ok := item.(message.Text); ok {
				text.Text = strings.TrimRightFunc(text.Text, unicode.IsSpace)
				m.Content[i] = text
			}
		}
	}
}

func isEmptyText(c message.Content) bool {
	text, ok := c.(message.Text)
	return ok && text.Text == ""
}

// dropEmpty drops the assistant's empty texts, and messages that have only empty texts or no items.
func dropEmpty(messages []message.Message) []message.Message {
	for i, m := range messages {
		if m.Role == message.Assistant {
			messages[i].Content = slices.DeleteFunc(m.Content, isEmptyText)
		}
	}
	return slices.DeleteFunc(messages, func(m message.Message) bool {
		return !slices.ContainsFunc(m.Content, func(c message.Content) bool { return !isEmptyText(c) })
	})
}

// dropLoose drops tool requests without a later response, malformed requests, and responses without an earlier
// request, because models reject them. An ID may be used again later.
func dropLoose(messages []message.Message) []message.Message {
	firstAsked, lastAnswered := map[string]int{}, map[string]int{} // item indexes by ID
	at := 0
	for _, m := range messages {
		for _, item := range m.Content {
			at++
			switch c := item.(type) {
			case message.ToolRequest:
				if _, again := firstAsked[c.ID]; !again && c.Call.Error == nil {
					firstAsked[c.ID] = at
				}
			case message.ToolResponse:
				lastAnswered[c.ID] = at
			}
		}
	}
	at = 0
	for i, m := range messages {
		messages[i].Content = slices.DeleteFunc(m.Content, func(c message.Content) bool {
			at++
			switch c := c.(type) {
			case message.ToolRequest:
				return c.Call.Error != nil || lastAnswered[c.ID] < at
			case message.ToolResponse:
				asked, ok := firstAsked[c.ID]
				return !ok || asked > at
			}
			return false
		})
	}
	return slices.DeleteFunc(messages, func(m message.Message) bool { return len(m.Content) == 0 })
}

// mergeNeighbours merges adjacent messages of the same kind.
func mergeNeighbours(messages []message.Message) []message.Message {
	var merged []message.Message
	for _, m := range messages {
		if len(merged) > 0 {
			if last := &merged[len(merged)-1]; kindOf(*last) == kindOf(m) {
				last.Content = append(last.Content, m.Content...)
				continue
			}
		}
		merged = append(merged, m)
	}
	return merged
}
