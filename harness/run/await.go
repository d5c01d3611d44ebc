package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// What a step needs from a stream, as error messages name it.
const (
	endOfStream = "the end of the stream"
	anyStream   = "an event stream"
)

func (s *streams) await(ctx context.Context, do *scenario.Await, rec *transcript.Step) error {
	rec.Stream = do.Stream
	pattern, err := fillPattern(do.Match, &s.run.values)
	if err != nil {
		return err
	}
	st := s.get(do.Stream)
	if st == nil {
		if err := s.missing(do.Stream); err != nil || pattern == nil {
			return err
		}
		rec.Unmet = &transcript.Unmet{Kind: "event", What: describe(transcript.Wire("").Noun(), pattern, do.Times)}
		return nil
	}
	ctx, cancel := s.run.within(ctx, do.Within)
	defer cancel()
	if pattern != nil {
		if ev := awaitEvents(ctx, st, pattern, do.Times, "event", rec); ev != nil {
			s.run.capture(do.Capture, []byte(ev.Data), nil, st.origin(rec), rec)
		}
	}
	if do.End && rec.Unmet == nil {
		if err := st.wire.AwaitEnd(ctx); err != nil {
			rec.Unmet = &transcript.Unmet{Kind: "end", What: endOfStream, Why: whyNot(err)}
		}
	}
	return nil
}

// awaitEvents waits for a number of matching events and records which ones matched. It returns the last of them, or nil
// when it did not arrive.
func awaitEvents(ctx context.Context, s *stream, p *transcript.Pattern, times int, kind string, rec *transcript.Step) *transcript.Event {
	var last *transcript.Event
	from := s.passed(branchOf(rec.ID))
	for range times {
		i, err := s.wire.Await(ctx, from, func(ev *transcript.Event) bool {
			if !match.Event(p, ev) {
				return false
			}
			last = ev
			return true
		})
		if err != nil {
			rec.Unmet = &transcript.Unmet{
				Kind: kind, What: describe(s.rec.Wire.Noun(), p, times), Why: whyNot(err) + "; " + s.others(from),
			}
			return nil
		}
		rec.Events = append(rec.Events, i)
		s.pass(branchOf(rec.ID), i)
		from = i + 1
	}
	return last
}

// whyNot says why a wait failed. It names the limit and not the measured time, because that differs from run to run.
func whyNot(err error) string {
	if errors.Is(err, watch.ErrEnded) {
		return "the stream ended before it came"
	}
	if timeout, ok := errors.AsType[*timeoutError](err); ok && timeout.of == "step" {
		return fmt.Sprintf("it did not come within %s", timeout.after)
	}
	return "it did not come before " + err.Error()
}

// describe says in words which events a pattern matches. noun is what they are called.
func describe(noun string, p *transcript.Pattern, times int) string {
	var parts []string
	if p.Event != nil {
		parts = append(parts, fmt.Sprintf("%s %q", noun, *p.Event))
	} else if noun == "event" {
		parts = append(parts, "an "+noun)
	} else {
		parts = append(parts, "a "+noun)
	}
	if p.Data != nil {
		parts = append(parts, fmt.Sprintf("with data %q", *p.Data))
	}
	if p.JSON != nil {
		for _, path := range slices.Sorted(maps.Keys(p.JSON.At)) {
			parts = append(parts, fmt.Sprintf("with %s at %s", p.JSON.At[path], path))
		}
		for _, path := range slices.Sorted(maps.Keys(p.JSON.Matches)) {
			parts = append(parts, fmt.Sprintf("with %s matching %s", path, p.JSON.Matches[path]))
		}
	}
	if times > 1 {
		parts = append(parts, fmt.Sprintf("(%d times)", times))
	}
	return strings.Join(parts, " ")
}
