package history

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// Note returns the context note: what the model cannot know from the conversation (decision M19). The lines follow
// the time and the directory.
func Note(now time.Time, directory string, lines []string) string {
	var note strings.Builder
	note.WriteString("<context>\n")
	note.WriteString("Date and time: " + now.Format(time.RFC3339) + "\n")
	note.WriteString("Working directory: " + directory + "\n")
	for _, line := range lines {
		note.WriteString(line + "\n")
	}
	note.WriteString("</context>")
	return note.String()
}

// WithNote returns a repaired history with a note before its last assistant message, or at the start. It does not
// change the argument.
func WithNote(messages []message.Message, note string) []message.Message {
	item := message.Text{Text: note}
	for i := len(messages) - 1; i > 0; i-- {
		if messages[i].Role != message.Assistant {
			continue
		}
		if kindOf(messages[i-1]) != fromUser {
			return slices.Insert(slices.Clone(messages), i, message.Message{
				Role: message.User, Content: []message.Content{item}, Metadata: message.Visible,
			})
		}
		return with(messages, i-1, append(slices.Clone(messages[i-1].Content), item))
	}
	return with(messages, 0, append([]message.Content{item}, messages[0].Content...))
}

// with returns the messages with another content in one of them.
func with(messages []message.Message, at int, content []message.Content) []message.Message {
	messages = slices.Clone(messages)
	messages[at].Content = content
	return messages
}
