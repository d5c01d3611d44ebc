package otlp

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// notExported stands for a span that a log record or a link names, and that has not come.
const notExported = "not exported"

// A forest has spans as trees: a span is below its parent, if that has come.
type forest struct {
	byID     map[spanID]*tracepb.Span
	children map[spanID][]*tracepb.Span
	roots    []*tracepb.Span
	inTree   map[*tracepb.Span]bool
	first    map[string]*tracepb.Span // the first root of each trace
}

func newForest(spans []*tracepb.Span) *forest {
	f := &forest{byID: map[spanID]*tracepb.Span{}, children: map[spanID][]*tracepb.Span{}, inTree: map[*tracepb.Span]bool{}, first: map[string]*tracepb.Span{}}
	sorted := slices.Clone(spans)
	slices.SortStableFunc(sorted, func(a, b *tracepb.Span) int { return compareTimes(a.StartTimeUnixNano, b.StartTimeUnixNano) })
	for _, s := range sorted {
		f.byID[spanID{string(s.TraceId), string(s.SpanId)}] = s
	}
	for _, s := range sorted {
		if parent := (spanID{string(s.TraceId), string(s.ParentSpanId)}); f.byID[parent] != nil {
			f.children[parent] = append(f.children[parent], s)
		} else {
			f.roots = append(f.roots, s)
		}
	}
	for _, s := range f.roots {
		f.first[string(s.TraceId)] = cmp.Or(f.first[string(s.TraceId)], s)
		f.mark(s)
	}
	for _, s := range sorted { // parents in a circle have no root
		if !f.inTree[s] {
			f.roots = append(f.roots, s)
			f.mark(s)
		}
	}
	return f
}

// compareTimes compares times by the millisecond, since the clocks of some languages have no more. Spans within it keep
// the order in which they ended.
func compareTimes(a, b uint64) int { return cmp.Compare(a/1e6, b/1e6) }

// mark marks a span and those below it as parts of a tree.
func (f *forest) mark(s *tracepb.Span) {
	f.inTree[s] = true
	for _, c := range f.children[spanID{string(s.TraceId), string(s.SpanId)}] {
		if !f.inTree[c] {
			f.mark(c)
		}
	}
}

// items returns one item for each tree.
func (f *forest) items() []Item {
	var out []Item
	done := map[*tracepb.Span]bool{}
	for _, s := range f.roots {
		root := f.tree(s, done)
		switch {
		case len(s.ParentSpanId) == 0:
		case f.byID[spanID{string(s.TraceId), string(s.ParentSpanId)}] != nil:
			root["parent"] = "in a circle"
		case isRemote(s):
			root["parent"] = hex.EncodeToString(s.TraceId) + "-" + hex.EncodeToString(s.ParentSpanId)
		default:
			root["parent"] = notExported
		}
		out = append(out, Item{Kind: "span", JSON: encode(root), At: unix(s.StartTimeUnixNano)})
	}
	return out
}

// isRemote reports whether the parent of a span is in another process. Exporters that do not say so have such parents
// only for spans of servers.
func isRemote(s *tracepb.Span) bool {
	if s.Flags&uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK) != 0 {
		return s.Flags&uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK) != 0
	}
	return s.Kind == tracepb.Span_SPAN_KIND_SERVER || s.Kind == tracepb.Span_SPAN_KIND_CONSUMER
}

// tree returns a span with those below it.
func (f *forest) tree(s *tracepb.Span, done map[*tracepb.Span]bool) map[string]any {
	done[s] = true
	out := map[string]any{
		"span": s.Name, "kind": strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_"), "attributes": attributes(s.Attributes, 0),
	}
	if code := s.GetStatus().GetCode(); code != tracepb.Status_STATUS_CODE_UNSET {
		out["status"] = strings.TrimPrefix(code.String(), "STATUS_CODE_")
	}
	if text := s.GetStatus().GetMessage(); text != "" {
		out["description"] = text
	}
	if s.TraceState != "" {
		out["tracestate"] = s.TraceState
	}
	if n := s.DroppedAttributesCount + s.DroppedEventsCount + s.DroppedLinksCount; n > 0 {
		out["dropped"] = n
	}
	var events, links, below []any
	for _, e := range s.Events {
		events = append(events, map[string]any{"event": e.GetName(), "attributes": attributes(e.GetAttributes(), 0)})
	}
	for _, l := range s.Links {
		_, name := f.names(l.GetTraceId(), l.GetSpanId())
		links = append(links, map[string]any{"link": name, "attributes": attributes(l.GetAttributes(), 0)})
	}
	for _, c := range f.children[spanID{string(s.TraceId), string(s.SpanId)}] {
		if !done[c] {
			below = append(below, f.tree(c, done))
		}
	}
	for name, list := range map[string][]any{"events": events, "links": links, "spans": below} {
		if len(list) > 0 {
			out[name] = list
		}
	}
	return out
}

// names returns the names of the first span of a trace, and of one of its spans.
func (f *forest) names(trace, span []byte) (root, name string) {
	root, name = notExported, notExported
	if s := f.first[string(trace)]; s != nil {
		root = s.Name
	}
	if s := f.byID[spanID{string(trace), string(span)}]; s != nil {
		name = s.Name
	}
	return root, name
}
