package turn

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/server/domain/message"
)

func piece(id string, texts ...string) message.Message {
	m := message.Message{ID: id, Role: message.Assistant}
	for _, text := range texts {
		m.Content = append(m.Content, message.Text{Text: text})
	}
	return m
}

func TestPiecesAreJoined(t *testing.T) {
	var p pieces
	thought := message.Message{ID: "a", Content: []message.Content{message.Thinking{Thinking: "hm"}}}
	for _, m := range []message.Message{
		piece("a", "He", "l"), piece("a", "l"), piece("a", "o"), thought, piece("a", "x"), piece("a", "y"),
		piece("a", "1", "2"), piece("a", "3"), piece("b", "z"), piece("", "n"), piece("", "m"), piece("b", "w"), piece("b", "v"),
	} {
		p.add(m)
	}
	want := []message.Message{piece("a", "He", "llo"), piece("b", "z"), piece("", "n"), piece("", "m"), piece("b", "wv")}
	want[0].Content = append(want[0].Content, thought.Content[0])
	want[0].Content = append(want[0].Content, piece("", "xy", "1", "23").Content...)
	for range 2 { // a second call must return the same
		if diff := cmp.Diff(want, p.messages()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestALongAnswerIsNotCopiedForEachPiece would allocate 2 GB if each piece copied the whole text.
func TestALongAnswerIsNotCopiedForEachPiece(t *testing.T) {
	took := ratio.Allocated(func() {
		var p pieces
		const count = 20_000
		for range count {
			p.add(piece("a", "ten bytes."))
		}
		if got := len(p.messages()[0].Content[0].(message.Text).Text); got != 10*count {
			t.Errorf("the text has %d bytes", got)
		}
	})
	if took > 100<<20 {
		t.Errorf("it took %d MiB", took>>20)
	}
}
