package extensions

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/store"
)

// keep puts a value into the extension data of the session, and leaves what else is there. The value is asked for when
// nobody else changes the data, so that the last one kept is the newest. The error is for clients; it is noSession if there
// is none.
func (s *Set) keep(ctx context.Context, name string, value func() jsonwire.Text) error {
	s.data.Lock()
	defer s.data.Unlock()
	sessions := s.connector.Sessions
	now, err := sessions.Session(ctx, s.sessionID)
	if errors.Is(err, store.ErrNotFound) {
		return noSession
	}
	if err != nil {
		return reason("Session cannot be read")
	}
	data, err := jsonwire.Parse(now.ExtensionData)
	if err != nil {
		return reason("Session cannot be read")
	}
	found, err := sessions.Update(ctx, s.sessionID, store.SetExtensionData(json.RawMessage(with(data, name, value()))))
	switch {
	case err != nil:
		return reason("Session cannot be written")
	case !found: // any more
		return noSession
	}
	return nil
}

// with returns an object with another value of a member, which stays where it is, or is the last one.
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
		w.Key(member)
		w.Raw(value)
	}
	w.Close('}')
	return w.Text()
}
