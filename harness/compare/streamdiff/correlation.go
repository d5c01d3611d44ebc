package streamdiff

import (
	"fmt"
	"slices"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An eventGroup has the events of one side that are in order among themselves: all of them, or those with one value at
// the OrderWithin path.
type eventGroup struct {
	key      string // the value, without its generated parts
	contents string // a digest of all its events, with ids named that other events explain; "" when not computed
	items    []item
}

// sequences splits the events of both sides into sequences, which are aligned separately.
type sequences struct {
	*Recordings
	pieces Pieces
	joined [2]int // how many pieces of texts were joined
}

// groups returns the sequences to align: one pair of all events, or one pair for each correlation key. If only one side
// has a key, the other sequence is empty.
func (s *sequences) groups(items, anchors [2][]item) [][2][]item {
	key := s.correlationKey()
	if key == nil {
		for side := range items {
			items[side] = s.collapse(side, items[side], anchors[side])
		}
		return [][2][]item{items}
	}
	lines := [2][]eventGroup{s.eventGroups(0, items[0], anchors[0], key), s.eventGroups(1, items[1], anchors[1], key)}
	if ambiguous(lines[0]) && ambiguous(lines[1]) {
		s.disambiguate(lines, anchors)
	}
	refs, cands := lines[0], lines[1]
	out := make([][2][]item, len(refs))
	for i, ref := range refs {
		out[i][0] = ref.items
	}
	for _, same := range []func(a, b eventGroup) bool{sameContents, sameEvents, sameKey} {
		for i, ref := range refs {
			if out[i][1] != nil {
				continue
			}
			if k := slices.IndexFunc(cands, func(cand eventGroup) bool { return same(ref, cand) }); k >= 0 {
				out[i][1] = cands[k].items
				cands = slices.Delete(cands, k, k+1)
			}
		}
	}
	for _, cand := range cands {
		out = append(out, [2][]item{nil, cand.items})
	}
	return out
}

// correlationKey returns the function that returns the correlation key of an event. It is nil when all events are in
// order. The lines of standard error are in order among themselves: which of two pipes lockstep reads first is chance.
func (s *sequences) correlationKey() func(*transcript.Event) string {
	key := s.messageKey()
	if !s.Rules.Stderr {
		return key
	}
	return func(ev *transcript.Event) string {
		switch {
		case ev.Item == transcript.ItemStderr:
			return "standard error"
		case key == nil:
			return ""
		}
		return key(ev)
	}
}

// messageKey returns the correlation keys of messages: the value at the OrderWithin path, or what a response of
// JSON-RPC responds to.
func (s *sequences) messageKey() func(*transcript.Event) string {
	if s.Rules.JSONRPC {
		return s.respondsTo
	}
	path, err := jsonpath.Parse(s.Rules.OrderWithin)
	if s.Rules.OrderWithin == "" || err != nil { // the path was checked when the rules were read
		return nil
	}
	return func(ev *transcript.Event) string { return s.correlation(ev, path) }
}

// respondsTo returns the id in a response of JSON-RPC 2.0 (section 5). Requests and notifications have none of this
// kind, so they stay in order.
func (s *sequences) respondsTo(ev *transcript.Event) string {
	root, err := s.Data.Parse(ev)
	if err != nil || root.Member("method") != nil || root.Member("id") == nil {
		return ""
	}
	return "response to " + string(root.Member("id").Text)
}

// ambiguous reports whether several groups have the same key, because the ids in it have no partners yet.
func ambiguous(lines []eventGroup) bool {
	seen := map[string]bool{}
	return slices.ContainsFunc(lines, func(l eventGroup) bool {
		double := seen[l.key]
		seen[l.key] = true
		return double
	})
}

// disambiguate tells groups with the same key apart. It uses events that are unique and mention the ids of the groups,
// such as an anchor that lists them.
func (s *sequences) disambiguate(lines [2][]eventGroup, anchors [2][]item) {
	var whole [2][]item
	for side := range lines {
		whole[side] = slices.Clone(anchors[side])
		for _, l := range lines[side] {
			whole[side] = append(whole[side], l.items...)
		}
	}
	named, ok := s.prebound([][2][]item{whole})
	if !ok {
		return // no event is unique
	}
	for side := range lines {
		for i := range lines[side] {
			l := &lines[side][i]
			said := []string{l.key}
			for _, it := range l.items {
				said = append(said, it.name, s.key(named, side, it.event))
			}
			l.contents = diff.Digest(said...)
		}
	}
}

func sameContents(a, b eventGroup) bool { return a.contents != "" && a.contents == b.contents }

func sameKey(a, b eventGroup) bool { return a.key == b.key }

// sameEvents distinguishes groups even if their keys are equal because the ids in them have no partners.
func sameEvents(a, b eventGroup) bool {
	return sameKey(a, b) && slices.EqualFunc(a.items, b.items, func(a, b item) bool { return a.name == b.name && a.outline == b.outline })
}

// eventGroups groups the events of a side by their correlation keys, in the order of their first events. It
// joins the pieces of texts, because the other side may split them elsewhere.
func (s *sequences) eventGroups(side int, items, anchors []item, keyOf func(*transcript.Event) string) []eventGroup {
	named := s.IDs.NamedSkeletons()
	index := map[string]int{}
	var out []eventGroup
	for _, it := range items {
		value := keyOf(it.event)
		i, ok := index[value]
		if !ok {
			i = len(out)
			index[value] = i
			key := named.Of(side, value)
			if s.IDs.PartnerOf(side, value) != "" {
				key = named.Name(side, ident.TokKnown, value)
			}
			out = append(out, eventGroup{key: key})
		}
		out[i].items = append(out[i].items, it)
	}
	for i := range out {
		out[i].items = s.collapse(side, out[i].items, anchors)
	}
	return out
}

// correlation returns the value of an event at the OrderWithin path; "" when there is none.
func (s *sequences) correlation(ev *transcript.Event, path *jsonpath.Path) string {
	root, err := s.Data.Parse(ev)
	if err != nil {
		return ""
	}
	found := path.Select(root.Value())
	if len(found) != 1 {
		return ""
	}
	s.IDs.Applied[OrderApplied(s.RuleKey)] = true
	return fmt.Sprint(found[0])
}
