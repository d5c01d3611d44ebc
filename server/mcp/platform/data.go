package platform

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

const noSession = mcperror.Reason("Session not found")

// keep sets a member of the session's extension data, and leaves the others unchanged. It calls value under the lock,
// so that the value stored last is the newest. The error is for clients; it is noSession if there is no session.
func (h *Host) keep(ctx context.Context, name string, value func() jsonwire.Text) error {
	h.data.Lock()
	defer h.data.Unlock()
	now, err := h.Sessions.Session(ctx, h.SessionID)
	if errors.Is(err, session.ErrNotFound) {
		return noSession
	}
	if err != nil {
		return mcperror.Reason("Session cannot be read")
	}
	data, err := jsonwire.Parse(now.ExtensionData)
	if err != nil {
		return mcperror.Reason("Session cannot be read")
	}
	found, err := h.SetData(ctx, h.SessionID, json.RawMessage(with(data, name, value())))
	switch {
	case err != nil:
		return mcperror.Reason("Session cannot be written")
	case !found: // the session was deleted
		return noSession
	}
	return nil
}

// with returns an object with a new value for a member. An existing member keeps its place; a new one is appended.
func with(object jsonwire.Text, member string, value jsonwire.Text) jsonwire.Text {
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	there := false
	for name, old := range object.Members() {
		w.Key(name.Str())
		if name.Str() == member {
			old, there = value, true
		}
		w.Raw(old)
	}
	if !there {
		w.Key(member).Raw(value)
	}
	w.Close('}')
	return w.Text()
}
