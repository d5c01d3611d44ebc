package history

import "github.com/lockstep-dev/lockstep/server/domain/message"

// settle drops an assistant's message at the beginning and at the end, and repeats the steps of decision M18 until nothing
// changes. The messages have passed the steps once.
//
// Every round drops little, and there can be as many rounds as messages: so a round looks at nothing but what the one
// before it has changed.
func settle(messages []message.Message) []message.Message {
	s := newSettling(messages)
	for s.changed {
		s.changed = false
		s.dropEnds()
		touched := s.touched
		s.touched = nil
		for _, i := range touched {
			if p := s.find(i); p.items > 0 && p.full == 0 { // nothing is left but empty texts
				s.dropAll(p)
			}
		}
		s.dropLoose()
		for at := 0; at < len(s.touched); at++ { // which grows
			s.merge(s.find(s.touched[at]))
		}
	}
	return s.messages(messages)
}

// A settling holds the items of all messages in a row. A part is a stretch of it.
type settling struct {
	items  []message.Content
	gone   []bool
	parts  []part // of the messages at first, between two without items that stay: one before all, one behind
	partOf []int  // of an item, at first
	places map[string]*places
	loose  []*places // of which a request or response went with its message

	touched []int // parts that this round has changed
	changed bool
}

type part struct {
	from, to               int
	items, full, responses int // how many are left; full are those that are not empty texts
	assistant              bool
	self, previous, next   int
	into                   int // the part that this one has become one with, or itself
}

// places are those of the requests and responses with one id. Of what is left, the first and the last are looked for.
type places struct{ requests, responses []int }

func newSettling(messages []message.Message) *settling {
	s := &settling{parts: make([]part, len(messages)+2), places: map[string]*places{}, changed: true}
	for i := range s.parts {
		s.parts[i] = part{self: i, previous: i - 1, next: i + 1, into: i}
		if i > 0 && i <= len(messages) {
			s.fill(&s.parts[i], messages[i-1])
			s.touched = append(s.touched, i)
		}
	}
	s.gone = make([]bool, len(s.items))
	return s
}

func (s *settling) fill(p *part, m message.Message) {
	p.from, p.assistant = len(s.items), m.Role == message.Assistant
	for _, item := range m.Content {
		switch c := item.(type) {
		case message.ToolRequest:
			with := s.placesOf(c.ID)
			with.requests = append(with.requests, len(s.items))
		case message.ToolResponse:
			with := s.placesOf(c.ID)
			with.responses = append(with.responses, len(s.items))
		}
		s.items = append(s.items, item)
		s.partOf = append(s.partOf, p.self)
		p.count(item, 1)
	}
	p.to = len(s.items)
}

func (s *settling) placesOf(id string) *places {
	if s.places[id] == nil {
		s.places[id] = &places{}
	}
	return s.places[id]
}

func (p *part) count(item message.Content, n int) {
	p.items += n
	if !isEmptyText(item) {
		p.full += n
	}
	if isResponse(item) {
		p.responses += n
	}
}

func (p *part) kind() kind {
	switch {
	case p.assistant:
		return fromAssistant
	case p.responses > 0:
		return fromTools
	}
	return fromUser
}

// find returns the part that a part has become.
func (s *settling) find(i int) *part {
	for s.parts[i].into != i {
		s.parts[i].into = s.parts[s.parts[i].into].into
		i = s.parts[i].into
	}
	return &s.parts[i]
}

func (s *settling) touch(p *part) {
	s.touched = append(s.touched, p.self)
	s.changed = true
}

// drop takes away an item, and its part if nothing is left of it.
func (s *settling) drop(at int) {
	if s.gone[at] {
		return
	}
	s.gone[at] = true
	p := s.find(s.partOf[at])
	p.count(s.items[at], -1)
	s.touch(p)
	if p.items == 0 {
		previous, next := &s.parts[p.previous], &s.parts[p.next]
		previous.next, next.previous = next.self, previous.self
		s.touch(previous)
	}
}

func (s *settling) dropAll(p *part) {
	for at := p.from; at < p.to; at++ {
		s.drop(at)
	}
}

// dropEnds drops an assistant's message at the beginning, and one at the end.
func (s *settling) dropEnds() {
	before, behind := &s.parts[0], &s.parts[len(s.parts)-1]
	for _, end := range []func() int{func() int { return before.next }, func() int { return behind.previous }} {
		p := &s.parts[end()]
		if !p.assistant {
			continue
		}
		for _, item := range s.items[p.from:p.to] {
			switch c := item.(type) {
			case message.ToolRequest:
				s.loose = append(s.loose, s.placesOf(c.ID))
			case message.ToolResponse:
				s.loose = append(s.loose, s.placesOf(c.ID))
			}
		}
		s.dropAll(p)
	}
}

// dropLoose drops the responses before the first request with their id, and the requests behind the last response.
func (s *settling) dropLoose() {
	for _, p := range s.loose {
		p.requests, p.responses = s.left(p.requests), s.left(p.responses)
		for len(p.responses) > 0 && (len(p.requests) == 0 || p.responses[0] < p.requests[0]) {
			s.drop(p.responses[0])
			p.responses = p.responses[1:]
		}
		for last := len(p.requests) - 1; last >= 0 && (len(p.responses) == 0 || p.requests[last] > p.responses[len(p.responses)-1]); last-- {
			s.drop(p.requests[last])
			p.requests = p.requests[:last]
		}
	}
	s.loose = nil
}

// left takes away the places at both ends whose items are gone.
func (s *settling) left(places []int) []int {
	for len(places) > 0 && s.gone[places[0]] {
		places = places[1:]
	}
	for len(places) > 0 && s.gone[places[len(places)-1]] {
		places = places[:len(places)-1]
	}
	return places
}

// merge makes one part of a part and those beside it that are of its kind.
func (s *settling) merge(p *part) {
	if p.items == 0 { // it is gone, or an end
		return
	}
	if previous := &s.parts[p.previous]; previous.items > 0 && previous.kind() == p.kind() {
		p = previous
	}
	for next := &s.parts[p.next]; next.items > 0 && next.kind() == p.kind(); next = &s.parts[p.next] {
		p.to, p.next, next.into = next.to, next.next, p.self
		p.items, p.full, p.responses = p.items+next.items, p.full+next.full, p.responses+next.responses
		s.parts[p.next].previous = p.self
		s.touch(p)
	}
}

// messages returns what is left.
func (s *settling) messages(before []message.Message) []message.Message {
	var left []message.Message
	for i := s.parts[0].next; i < len(s.parts)-1; i = s.parts[i].next {
		m, p := before[i-1], s.parts[i]
		m.Content = nil
		for at := p.from; at < p.to; at++ {
			if !s.gone[at] {
				m.Content = append(m.Content, s.items[at])
			}
		}
		left = append(left, m)
	}
	return left
}
