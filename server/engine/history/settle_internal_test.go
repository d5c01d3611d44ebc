package history

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// stepByStep repairs a conversation literally as decision M18 describes it.
func stepByStep(conversation []message.Message) []message.Message {
	messages := visible(conversation)
	for {
		before := fmt.Sprint(messages)
		mergeTexts(messages)
		trimTexts(messages)
		messages = dropEmpty(messages)
		messages = dropLoose(messages)
		messages = mergeNeighbours(messages)
		if len(messages) > 0 && messages[0].Role == message.Assistant {
			messages = messages[1:]
		}
		if last := len(messages) - 1; last >= 0 && messages[last].Role == message.Assistant {
			messages = messages[:last]
		}
		if fmt.Sprint(messages) == before {
			break
		}
	}
	if len(messages) == 0 {
		return Repair(nil)
	}
	return messages
}

func randomConversation(r *rand.Rand) []message.Message {
	var conversation []message.Message
	for range r.IntN(12) {
		m := message.Message{Role: message.User, Metadata: message.Visible}
		if r.IntN(2) == 0 {
			m.Role = message.Assistant
		}
		for range r.IntN(4) {
			id := string(rune('a' + r.IntN(4)))
			switch r.IntN(5) {
			case 0, 1:
				m.Content = append(m.Content, message.ToolRequest{ID: id, Call: message.Success(message.ToolCall{Name: "x"})})
			case 2, 3:
				m.Content = append(m.Content, message.ToolResponse{ID: id})
			default:
				m.Content = append(m.Content, message.Text{Text: []string{"", " ", "t ", "u"}[r.IntN(4)]})
			}
		}
		conversation = append(conversation, m)
	}
	return conversation
}

func TestRepairFollowsTheDecision(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		conversation := randomConversation(r)
		if want, got := stepByStep(conversation), Repair(conversation); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%d: %v (-want +got):\n%s", i, conversation, cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)))
		}
	}
}

// chains are conversations from which each step of the repair removes little.
var chains = map[string]func(n int) []message.Message{
	// Each request is dropped with the first message, and then its response. The next request is then the first.
	"from the beginning": func(n int) (c []message.Message) {
		for i := range n {
			c = append(c, said(message.Assistant, asks(i)), said(message.User, answers(i)))
		}
		return append(c, said(message.User, message.Text{Text: "x"}))
	},
	// Each response is dropped with the last message, which is the assistant's here, and then its request.
	"from the end": func(n int) (c []message.Message) {
		c = append(c, said(message.User, message.Text{Text: "x"}))
		for i := range n {
			c = append(c, said(message.User, asks(i)), said(message.Assistant, answers(i)))
		}
		return c
	},
	"texts": func(n int) (c []message.Message) {
		c = append(c, said(message.User, message.Text{Text: "x"}))
		for range n {
			c = append(c, said(message.Assistant, message.Text{Text: "some words"}))
		}
		return append(c, said(message.User, message.Text{Text: "y"}))
	},
}

func said(role message.Role, items ...message.Content) message.Message {
	return message.Message{Role: role, Content: items, Metadata: message.Visible}
}

func asks(i int) message.Content {
	return message.ToolRequest{ID: fmt.Sprint(i), Call: message.Success(message.ToolCall{Name: "x"})}
}

func answers(i int) message.Content { return message.ToolResponse{ID: fmt.Sprint(i)} }

// TestRepairIsLinear checks that four times as many messages take about four times the memory, and not sixteen times.
func TestRepairIsLinear(t *testing.T) {
	for name, chain := range chains {
		allocated := func(n int) uint64 {
			conversation := chain(n)
			return ratio.Allocated(func() { Repair(conversation) })
		}
		if few, many := allocated(500), allocated(2000); many > 8*few {
			t.Errorf("%s: %d bytes became %d", name, few, many)
		}
	}
}

// TestANoteNeedsNoRepair checks that a repaired conversation with a note needs no further repair, so that the note is
// never dropped.
func TestANoteNeedsNoRepair(t *testing.T) {
	for seed := range uint64(5000) {
		noted := WithNote(Repair(randomConversation(rand.New(rand.NewPCG(seed, 0)))), "<context>")
		if diff := cmp.Diff(noted, Repair(noted)); diff != "" {
			t.Fatalf("seed %d (-noted +repaired):\n%s", seed, diff)
		}
	}
}

func BenchmarkRepair(b *testing.B) {
	for name, chain := range chains {
		for _, n := range []int{1000, 2000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				conversation := chain(n)
				b.ReportAllocs()
				for b.Loop() {
					Repair(conversation)
				}
			})
		}
	}
}
