package session

import (
	"errors"
	"slices"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// ErrNotFound means that the session does not exist.
var ErrNotFound = errors.New("session not found")

// A Conversation is the messages of a session when it was read.
type Conversation struct {
	Messages []message.Message
	Rows     []int64 // the numbers of the messages; they increase, and are never reused
}

// End returns the number of the latest message, or 0 if there is none.
func (c Conversation) End() int64 {
	if len(c.Rows) == 0 {
		return 0
	}
	return slices.Max(c.Rows)
}
