package code

import "maps"

// A Stream is an event stream, a socket or a program that a step has opened on all targets.
type Stream struct {
	client *Client
	name   string
}

// Await waits on all targets for an event that matches: Keys{"event": "added", "json": Keys{"$.id": id}}. Nil matches are
// left out, as before Keys{"end": true}. The answers have the events.
func (s *Stream) Await(match Keys, with ...Keys) *Answers {
	return s.client.step(s.keys("await", match), with)
}

// Never forbids events that match for a time, Keys{"within": "100ms"}, which overlaps the following steps.
func (s *Stream) Never(match Keys, with ...Keys) { s.client.step(s.keys("never", match), with) }

// Send sends a message on a socket, or a line to a program: Keys{"json": …}, Keys{"text": "hello"}.
func (s *Stream) Send(message Keys, with ...Keys) {
	keys := maps.Clone(message)
	if keys == nil {
		keys = Keys{}
	}
	keys["send"] = s.name
	s.client.step(keys, with)
}

// Close closes the client's side.
func (s *Stream) Close(with ...Keys) { s.client.step(Keys{"close": s.name}, with) }

func (s *Stream) keys(step string, match Keys) Keys {
	keys := Keys{step: s.name}
	if match != nil {
		keys["match"] = match
	}
	return keys
}
