package run

import (
	"encoding/json"
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An answerBuilder builds the response of a rule from a target's values.
type answerBuilder struct {
	filler
	id    string // prefix of the ids that it generates
	calls int
}

func (b *answerBuilder) answer(of *scenario.StubAnswer, chat *stub.Chat) *stub.Answer {
	a := &stub.Answer{After: of.After, Status: of.Status, Error: b.text(of.Error), End: stub.End(of.End)}
	for _, h := range of.Header {
		a.Header = append(a.Header, transcript.Field{Name: h.Name, Value: b.textOr(&h.Value, "")})
	}
	if of.Body != nil {
		body, err := of.Body.Plain(b.values)
		b.note(err)
		if a.Body = body; of.Body.JSON.IsSet() && !a.Header.Has("Content-Type") {
			a.Header = append(a.Header, transcript.Field{Name: "Content-Type", Value: "application/json"})
		}
	}
	if of.Callback != nil {
		a.Callback = &stub.Callback{}
		for name, t := range of.Callback {
			(*a.Callback)[name] = b.text(t)
		}
	}
	if len(of.Pieces) > 0 {
		a.Message = &stub.Message{
			ID: b.textOr(of.ID, "msg_"+b.id), Model: b.textOr(of.Model, chat.Model), Stop: b.textOr(of.Stop, ""),
			Input: of.Usage.Input, Output: of.Usage.Output,
		}
		for i := range of.Pieces {
			a.Message.Pieces = append(a.Message.Pieces, b.pieces(&of.Pieces[i])...)
		}
	}
	return a
}

// texts returns the text of a template. With each, it returns one text for each item of the value.
func (b *answerBuilder) texts(t *scenario.Template, each bool) []string {
	if !each {
		return []string{b.textOr(t, "")}
	}
	all, err := t.Texts(b.values)
	b.note(err)
	return all
}

func (b *answerBuilder) pieces(of *scenario.StubPiece) []stub.Piece {
	if !of.Each {
		return []stub.Piece{b.piece(of)}
	}
	var out []stub.Piece
	for _, text := range b.texts(of.Text, true) {
		out = append(out, stub.Piece{Text: &text})
	}
	return out
}

func (b *answerBuilder) piece(of *scenario.StubPiece) stub.Piece {
	p := stub.Piece{After: of.After, Text: b.text(of.Text), Thinking: b.text(of.Thinking), Raw: b.text(of.Raw)}
	if of.Tool == nil {
		return p
	}
	b.calls++
	p.Tool = &stub.Tool{Name: b.textOr(&of.Tool.Name, ""), ID: b.textOr(of.Tool.ID, fmt.Sprintf("call_%s_%d", b.id, b.calls))}
	for i := range of.Tool.Arguments {
		p.Tool.Arguments = append(p.Tool.Arguments, b.texts(&of.Tool.Arguments[i], of.Tool.Each)...)
	}
	if len(of.Tool.Arguments) == 0 {
		input := json.RawMessage("{}")
		if of.Tool.Input.IsSet() {
			input = b.value(of.Tool.Input)
		}
		p.Tool.Arguments = []string{string(input)}
	}
	return p
}
