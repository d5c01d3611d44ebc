package run

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A command is a line to a driver.
type command struct {
	ID   int             `json:"id"`
	Do   string          `json:"do"`
	With json.RawMessage `json:"with,omitempty"`
}

// An outcome is a line of a driver. It has either OK or Error.
type outcome struct {
	id   int
	body []byte // the outcome without its id: {"ok":…} or {"error":…}
}

// readOutcome reads a line of a driver. The error says why the line is not an outcome.
func readOutcome(line string) (*outcome, error) {
	root, defects, err := jsontree.Parse([]byte(line))
	if err != nil {
		return nil, err
	}
	for _, d := range defects {
		if d.Kind == jsontree.DuplicateName && strings.Count(d.Pointer, "/") > 1 {
			continue // the outcome's own contents are compared as they are
		}
		if d.Kind != jsontree.InvalidUTF8 {
			return nil, fmt.Errorf("%s", d.Text)
		}
	}
	root.Open()
	id, ok, problem := root.Member("id"), root.Member("ok"), root.Member("error")
	switch {
	case root.Kind != jsontree.Object:
		return nil, fmt.Errorf("it is not an object")
	case id == nil:
		return nil, fmt.Errorf("it has no id")
	case ok == nil && problem == nil:
		return nil, fmt.Errorf("it has neither ok nor error")
	case ok != nil && problem != nil:
		return nil, fmt.Errorf("it has both ok and error")
	case len(root.Names) != 2:
		return nil, fmt.Errorf("it has members besides id, ok and error")
	}
	out := &outcome{}
	if out.id, err = strconv.Atoi(id.Text); err != nil || id.Kind != jsontree.Number || out.id < 1 {
		return nil, fmt.Errorf("its id is not a whole number above 0")
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &raw); err != nil {
		return nil, err
	}
	name := "ok"
	if problem != nil {
		name = "error"
	}
	out.body = fmt.Appendf(nil, "{%q:%s}", name, raw[name])
	return out, nil
}

// A ledger knows what a driver was told, and which lines are outcomes of that. Each line is read once.
type ledger struct {
	mu    sync.Mutex
	told  []*transcript.Exchange // by id, counted from 1
	heard []heard                // by the index of the event
}

// A heard is what a line of a driver is.
type heard struct {
	out *outcome
	err error // why it is none
	// taken is set when a step has got the line: its outcome, or the line that is none.
	taken bool
}

// tell adds an exchange, and returns its id.
func (l *ledger) tell(x *transcript.Exchange) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, x)
	return len(l.told)
}

// read returns what the event at an index is.
func (l *ledger) read(i int, ev *transcript.Event) heard {
	for len(l.heard) <= i {
		l.heard = append(l.heard, heard{})
	}
	h := &l.heard[i]
	if h.out == nil && h.err == nil && ev.Item == transcript.ItemLine && !ev.Sent {
		h.out, h.err = readOutcome(ev.Data)
	}
	return *h
}

// take returns what the event at an index is, if it is for the exchange with an id: its outcome, or a line that is none
// and that no other exchange has got.
func (l *ledger) take(id, i int, ev *transcript.Event) (h heard, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h = l.read(i, ev)
	if h.taken || h.err == nil && (h.out == nil || h.out.id != id) {
		return heard{}, false
	}
	l.heard[i].taken = true
	return h, true
}

// owes reports whether the driver was told something of which there is no outcome yet.
func (l *ledger) owes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.told, func(x *transcript.Exchange) bool { return x.Response == nil })
}

// settle looks for lines that no step has got, and that are not the first outcome of what the driver was told. The
// exchange that they belong to fails. So does the last one when the driver has exceeded a limit.
func (l *ledger) settle(s *transcript.Stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.told) == 0 {
		return
	}
	events := s.Events
	outcomes := map[int]int{}
	for i := range events {
		ev := &events[i]
		if ev.Item != transcript.ItemLine || ev.Sent {
			continue
		}
		h := l.read(i, ev)
		if h.err != nil {
			if !h.taken {
				l.fail(l.last(ev.At), notOutcome(ev.Data, h.err))
			}
			continue
		}
		id := h.out.id
		outcomes[id]++
		switch {
		case id < 1 || id > len(l.told):
			l.fail(l.last(ev.At), fmt.Sprintf("the driver wrote an outcome with the id %d, which it was not told: %s", id, quoted(ev.Data)))
		case outcomes[id] == 2:
			l.fail(l.told[id-1], "the driver wrote a second outcome: "+quoted(ev.Data))
		}
	}
	if s.Failure != nil {
		l.fail(l.last(s.Until), s.Failure.Text)
	}
}

// last returns what the driver was told last before a moment, or first.
func (l *ledger) last(at time.Duration) *transcript.Exchange {
	out := l.told[0]
	for _, x := range l.told {
		if x.Sent <= at {
			out = x
		}
	}
	return out
}

// fail makes an exchange fail, unless it has failed before. That an outcome did not come in time says less.
func (l *ledger) fail(x *transcript.Exchange, text string) {
	if x.Failure == nil || x.Failure.Kind == transcript.FailTimeout {
		x.Failure = &transcript.Failure{Kind: transcript.FailMalformed, Phase: transcript.PhaseBody, Text: text}
	}
}

func notOutcome(line string, why error) string {
	return fmt.Sprintf("the driver wrote a line that is not an outcome, because %s: %s (a driver logs to standard error)", why, quoted(line))
}

// quoted shows the beginning of a line.
func quoted(line string) string {
	const limit = 200
	if len(line) > limit {
		line = strings.ToValidUTF8(line[:limit], "") + "…"
	}
	return strconv.Quote(line)
}
