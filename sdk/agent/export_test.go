package agentsdk

import (
	"encoding/json"
	"io"
	"iter"
)

// Lines returns the lines of a stream, for tests.
func Lines(from io.Reader, max int) ([]string, error) {
	l := lineReader{from: from, max: max}
	var all []string
	for {
		line, _, err := l.next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, string(line))
	}
}

// Members and Elements are members and elements, for tests.
func Members(object json.RawMessage) iter.Seq2[string, json.RawMessage] { return members(object) }

func Elements(array json.RawMessage) iter.Seq[json.RawMessage] { return elements(array) }

// BeforeEnd calls a function when the client's process has ended, and before the client forgets its turn.
func BeforeEnd(c *ClaudeCodeClient, f func()) {
	s := c.turns.current
	end := s.onEnd
	s.onEnd = func() {
		f()
		end()
	}
}

// IdleGoroutines returns how many goroutines of a session wait for another call.
func IdleGoroutines(s *AgentSession) int { return int(s.session.handler.inbox.idlers.Load()) }

// ReadMessage reads one line and parses it as a session does, for benchmarks.
func ReadMessage(from io.Reader) (m Message, err error) {
	l := lineReader{from: from, max: -1}
	line, _, err := l.next()
	if err != nil {
		return nil, err
	}
	h := newHandler(nil, ProtocolOptions{}, optionsObserver{&ProtocolOptions{OnMessage: func(got Message) { m = got }}})
	h.receive(line)
	return m, nil
}
