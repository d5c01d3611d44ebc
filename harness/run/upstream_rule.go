package run

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// means reports whether a rule is about a request. A rule that names a value which is not there yet is about none.
func (u *upstream) means(when *scenario.When, r *transcript.Request, chat *stub.Chat) bool {
	if when.Path == nil && u.stub.Kind().Chats() && !u.stub.Kind().IsChat(r) {
		return false
	}
	return u.meansLine(when, r) && u.meansChat(when, chat) && u.demands(when.Demands, r)
}

// meansLine compares the method, the path and the query.
func (u *upstream) meansLine(when *scenario.When, r *transcript.Request) bool {
	path, query, _ := strings.Cut(r.Target, "?")
	if when.Path != nil {
		want, err := when.Path.Text(&u.w.env, escapePath)
		if err != nil || want != path || when.Method != r.Method {
			return false
		}
	}
	given, _ := url.ParseQuery(query) // as far as it is one
	for _, p := range when.Query {
		want, err := p.Value.Text(&u.w.env, nil)
		if err != nil || !slices.Contains(given[p.Name], want) {
			return false
		}
	}
	return true
}

// meansChat looks for what the rule says of a conversation.
func (u *upstream) meansChat(when *scenario.When, chat *stub.Chat) bool {
	if when.Stream != nil && *when.Stream != chat.Stream || when.Result != nil && chat.Result == nil {
		return false
	}
	holds := func(t *scenario.Template, in func(want string) bool) bool {
		if t == nil {
			return true
		}
		want, err := t.Text(&u.w.env, nil)
		return err == nil && in(want)
	}
	within := func(text string) func(string) bool {
		return func(want string) bool { return strings.Contains(text, want) }
	}
	return holds(when.Last, within(chat.Last)) && holds(when.Result, within(chat.Last)) && holds(when.System, within(chat.System)) &&
		holds(when.Tool, func(want string) bool { return slices.Contains(chat.Tools, want) }) &&
		holds(when.Model, func(want string) bool { return want == chat.Model })
}

// demands looks at header fields and the body as at those of an answer.
func (u *upstream) demands(e *scenario.Expect, r *transcript.Request) bool {
	if e == nil {
		return true
	}
	want, err := u.w.expect(e)
	if err != nil {
		return false
	}
	as := &transcript.Exchange{Response: &transcript.Response{Header: r.Header, Body: r.Body}}
	return len(match.Exchange(want, as)) == 0
}

// fill gives the n-th answer of a rule the target's values.
func (u *upstream) fill(rule *scenario.StubRule, chat *stub.Chat, n int) (*stub.Answer, error) {
	f := filler{w: u.w, id: fmt.Sprintf("%s_%s_%d", u.w.t.Unique, rule.Name, n)}
	a := f.answer(&rule.Answer, chat)
	if f.err != nil {
		return nil, unfilled(rule.Name, f.err)
	}
	return a, nil
}

// A filler makes an answer. err is the first thing that went wrong.
type filler struct {
	w     *walker
	id    string // what is made up has in it
	calls int
	err   error
}

func (f *filler) text(t *scenario.Template) *string {
	if t == nil {
		return nil
	}
	s, err := t.Text(&f.w.env, nil)
	f.note(err)
	return &s
}

func (f *filler) note(err error) {
	if f.err == nil {
		f.err = err
	}
}

// or returns a text, or what stands for it.
func (f *filler) or(t *scenario.Template, otherwise string) string {
	if s := f.text(t); s != nil {
		return *s
	}
	return otherwise
}

func (f *filler) answer(of *scenario.StubAnswer, chat *stub.Chat) *stub.Answer {
	a := &stub.Answer{After: of.After, Status: of.Status, Error: f.text(of.Error), End: stub.End(of.End)}
	for _, h := range of.Header {
		value, err := h.Value.Text(&f.w.env, nil)
		f.note(err)
		a.Header = append(a.Header, transcript.Field{Name: h.Name, Value: value})
	}
	if of.Body != nil {
		body, err := plainBody(of.Body, &f.w.env)
		f.note(err)
		if a.Body = body; of.Body.JSON.IsSet() && !a.Header.Has("Content-Type") {
			a.Header = append(a.Header, transcript.Field{Name: "Content-Type", Value: "application/json"})
		}
	}
	if len(of.Pieces) > 0 {
		a.Message = &stub.Message{
			ID: f.or(of.ID, "msg_"+f.id), Model: f.or(of.Model, chat.Model), Stop: f.or(of.Stop, ""),
			Input: of.Usage.Input, Output: of.Usage.Output,
		}
		for i := range of.Pieces {
			a.Message.Pieces = append(a.Message.Pieces, f.pieces(&of.Pieces[i])...)
		}
	}
	return a
}

// texts returns the texts of a template, several if it may be a list.
func (f *filler) texts(t *scenario.Template, each bool) []string {
	if !each {
		return []string{f.or(t, "")}
	}
	all, err := t.Texts(&f.w.env)
	f.note(err)
	return all
}

func (f *filler) pieces(of *scenario.StubPiece) []stub.Piece {
	if !of.Each {
		return []stub.Piece{f.piece(of)}
	}
	var out []stub.Piece
	for _, text := range f.texts(of.Text, true) {
		out = append(out, stub.Piece{Text: &text})
	}
	return out
}

func (f *filler) piece(of *scenario.StubPiece) stub.Piece {
	p := stub.Piece{After: of.After, Text: f.text(of.Text), Thinking: f.text(of.Thinking), Raw: f.text(of.Raw)}
	if of.Tool == nil {
		return p
	}
	f.calls++
	p.Tool = &stub.Tool{Name: f.or(&of.Tool.Name, ""), ID: f.or(of.Tool.ID, fmt.Sprintf("call_%s_%d", f.id, f.calls))}
	for i := range of.Tool.Arguments {
		p.Tool.Arguments = append(p.Tool.Arguments, f.texts(&of.Tool.Arguments[i], of.Tool.Each)...)
	}
	if len(of.Tool.Arguments) == 0 {
		input := json.RawMessage("{}")
		if of.Tool.Input.IsSet() {
			var err error
			input, err = of.Tool.Input.Resolve(&f.w.env)
			f.note(err)
		}
		p.Tool.Arguments = []string{string(input)}
	}
	return p
}
