package session

import (
	"errors"
	"slices"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// ErrNotFound means that there is no such session.
var ErrNotFound = errors.New("session not found")

// A Conversation is what a session had when it was read.
type Conversation struct {
	Messages []message.Message
	Rows     []int64 // the numbers of the messages; they go up, and none is used twice
}

// End is the number of the latest message, 0 if there is none.
func (c Conversation) End() int64 {
	if len(c.Rows) == 0 {
		return 0
	}
	return slices.Max(c.Rows)
}
