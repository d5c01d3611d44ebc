package history

import "github.com/lockstep-dev/lockstep/server/domain/message"

// settle drops an assistant's message at the start and at the end, and repeats the steps of decision M18 until
// nothing changes. Each step was applied once before.
//
// Each round drops little, and there can be as many rounds as messages. So a round only looks at what the previous
// one has changed.
func settle(messages []message.Message) []message.Message {
	s := newSettling(messages)
	for s.changed {
		s.changed = false
		s.dropEnds()
		touched := s.touched
		s.touched = nil
		for _, i := range touched {
			if p := s.find(i); p.items > 0 && p.full == 0 { // only empty texts are left
				s.dropAll(p)
			}
		}
		s.dropLoose()
		for at := 0; at < len(s.touched); at++ { // grows during the loop
			s.merge(s.find(s.touched[at]))
		}
	}
	return s.messages(messages)
}

// A settling holds the items of all messages in one list. A part is a range of it.
type settling struct {
	items  []message.Content
	gone   []bool
	parts  []part // at first one per message, between two empty parts: one before all, one after all
	partOf []int  // the original part of each item
	places map[string]*places
	loose  []*places // those of a message that was dropped

	touched []int // parts that this round has changed
	changed bool
}

type part struct {
	from, to               int
	items, full, responses int // how many are left; full counts the items that are not empty texts
	assistant              bool
	self, previous, next   int
	into                   int // the part that this one was merged into, or itself
}

// places are the indexes of the requests and responses with one ID. Only the first and last remaining ones matter.
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

// find returns the part that contains a part after merges.
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

// drop removes an item, and its part if that becomes empty.
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

// dropEnds drops the assistant's message at the start, and the one at the end.
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

// dropLoose drops the responses before the first request with their ID, and the requests after the last response.
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

// left removes from both ends the places whose items are gone.
func (s *settling) left(places []int) []int {
	for len(places) > 0 && s.gone[places[0]] {
		places = places[1:]
	}
	for len(places) > 0 && s.gone[places[len(places)-1]] {
		places = places[:len(places)-1]
	}
	return places
}

// merge merges a part with its neighbours of the same kind.
func (s *settling) merge(p *part) {
	if p.items == 0 { // it is gone, or one of the ends
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

// messages returns the remaining messages.
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
