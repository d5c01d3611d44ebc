package turn

import "github.com/lockstep-dev/lockstep/server/domain/message"

// pieces joins the pieces of an answer as clients do (GA 7.7). A single text with the same ID continues the previous
// text, other content with the same ID continues the message, and everything else is a new message.
type pieces struct {
	joined []message.Message
	// text is the last item while it is being continued. Appending to a string would copy the whole text for each
	// piece.
	text []byte
	open bool
}

func (p *pieces) add(piece message.Message) {
	last := len(p.joined) - 1
	if last < 0 || piece.ID == "" || p.joined[last].ID != piece.ID {
		p.close()
		p.joined = append(p.joined, piece)
		return
	}
	if len(piece.Content) == 1 {
		if more, isText := piece.Content[0].(message.Text); isText && p.grow(more.Text) {
			return
		}
	}
	p.close()
	p.joined[last].Content = append(p.joined[last].Content, piece.Content...)
}

// grow continues the last item, if it is a text.
func (p *pieces) grow(more string) bool {
	if !p.open {
		item := p.end()
		text, isText := (*item).(message.Text)
		if !isText {
			return false
		}
		p.text, p.open = append(p.text[:0], text.Text...), true
	}
	p.text = append(p.text, more...)
	return true
}

// end returns the last item. There is one, because no piece is empty.
func (p *pieces) end() *message.Content {
	content := p.joined[len(p.joined)-1].Content
	return &content[len(content)-1]
}

func (p *pieces) close() {
	if !p.open {
		return
	}
	item := p.end()
	text := (*item).(message.Text)
	text.Text = string(p.text)
	*item, p.open = text, false
}

// messages returns the joined messages.
func (p *pieces) messages() []message.Message {
	p.close()
	return p.joined
}
