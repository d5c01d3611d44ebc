package spec

import (
	"slices"
	"strings"
)

// A router finds the operation of a path. It uses the raw segments of the target. The path is not cleaned, so empty
// segments and escaped slashes are kept, and a target that fits no template finds nothing.
//
// A dot segment, percent-encoded or not, is not a valid value of a parameter. It is "intended for use at the beginning
// of a relative-path reference" (RFC 3986 §3.3) and disappears when a path is resolved, so such a path has no
// operation. A path with a backslash has no operation either: a URI cannot contain one, and some readers take it for a
// slash (URL Standard §4.4).
//
// "When matching URLs, concrete (non-templated) paths would be matched before their templated counterparts" (OpenAPI
// 3.0.3 §4.7.8.1), segment by segment from the left. If a path lacks the method, the next path that fits is tried.
type router struct {
	literal  map[string]*router
	patterns []*edge // those with more text around their parameters come first
	ops      map[string]*Operation
}

// An edge is a segment with parameters in it.
type edge struct {
	pieces []string // the text before, between and after the parameters
	next   *router
}

func (r *router) add(template string, op *Operation) {
	for segment := range strings.SplitSeq(strings.TrimPrefix(template, "/"), "/") {
		pieces := splitTemplate(segment)
		if len(pieces) == 1 {
			r = r.literally(pieces[0])
		} else {
			r = r.pattern(pieces)
		}
	}
	if r.ops == nil {
		r.ops = make(map[string]*Operation)
	}
	if r.ops[op.Method] == nil {
		r.ops[op.Method] = op
	}
}

func (r *router) literally(segment string) *router {
	if r.literal == nil {
		r.literal = make(map[string]*router)
	}
	next := r.literal[segment]
	if next == nil {
		next = new(router)
		r.literal[segment] = next
	}
	return next
}

func (r *router) pattern(pieces []string) *router {
	for _, e := range r.patterns {
		if slices.Equal(e.pieces, pieces) {
			return e.next
		}
	}
	e := &edge{pieces, new(router)}
	r.patterns = append(r.patterns, e)
	slices.SortStableFunc(r.patterns, func(a, b *edge) int {
		return len(strings.Join(b.pieces, "")) - len(strings.Join(a.pieces, ""))
	})
	return e.next
}

// splitTemplate returns the text around the parameters of a segment: "{a}-{b}.json" gives "", "-" and ".json". An
// unmatched brace is text.
func splitTemplate(segment string) []string {
	var pieces []string
	for {
		before, rest, ok := strings.Cut(segment, "{")
		_, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return append(pieces, segment)
		}
		pieces = append(pieces, before)
		segment = after
	}
}

// find returns the operation and the raw values of its path parameters, in the order of the template.
func (r *router) find(method, path string) (*Operation, []string) {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok || hasDotSegments(path) {
		return nil, nil
	}
	var values []string
	op := r.walk(rest, &values, func(ops map[string]*Operation) *Operation { return ops[method] })
	if op == nil && method == "HEAD" {
		values = nil
		op = r.walk(rest, &values, func(ops map[string]*Operation) *Operation { return ops["GET"] })
	}
	return op, values
}

// template returns the path as the document writes it, or "" when it has no operation. If the document has the path
// several times, with other parameter names, the first by name wins.
func (r *router) template(path string) string {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok || hasDotSegments(path) {
		return ""
	}
	var values []string
	first := r.walk(rest, &values, func(ops map[string]*Operation) *Operation {
		var first *Operation
		for _, op := range ops {
			if first == nil || op.Path < first.Path {
				first = op
			}
		}
		return first
	})
	if first == nil {
		return ""
	}
	return first.Path
}

func hasDotSegments(path string) bool {
	if strings.Contains(path, `\`) {
		return true
	}
	for segment := range strings.SplitSeq(path, "/") {
		if len(segment) <= len("%2E%2E") && (Unescape(segment) == "." || Unescape(segment) == "..") {
			return true
		}
	}
	return false
}

func (r *router) walk(rest string, values *[]string, pick func(map[string]*Operation) *Operation) *Operation {
	segment, rest, more := strings.Cut(rest, "/")
	if next := r.enter(segment); next != nil {
		if op := next.goOn(rest, more, values, pick); op != nil {
			return op
		}
	}
	before := len(*values)
	for _, e := range r.patterns {
		if e.match(segment, values) {
			if op := e.next.goOn(rest, more, values, pick); op != nil {
				return op
			}
		}
		*values = (*values)[:before]
	}
	return nil
}

func (r *router) goOn(rest string, more bool, values *[]string, pick func(map[string]*Operation) *Operation) *Operation {
	if more {
		return r.walk(rest, values, pick)
	}
	return pick(r.ops)
}

// enter follows a segment without parameters. Percent-encoding a character that need not be encoded makes no difference
// (RFC 3986 §6.2.2.2).
func (r *router) enter(segment string) *router {
	if next := r.literal[segment]; next != nil || !strings.Contains(segment, "%") {
		return next
	}
	return r.literal[Unescape(segment)]
}

// match appends the values of the parameters, which must not be empty. Each value ends at the next text of the
// template, and the last one at the end of the segment.
func (e *edge) match(segment string, values *[]string) bool {
	first, last := e.pieces[0], e.pieces[len(e.pieces)-1]
	if len(segment) < len(first)+len(last) || !strings.HasPrefix(segment, first) || !strings.HasSuffix(segment, last) {
		return false
	}
	segment = segment[len(first) : len(segment)-len(last)]
	for _, between := range e.pieces[1 : len(e.pieces)-1] {
		if segment == "" {
			return false
		}
		at := strings.Index(segment[1:], between)
		if at < 0 {
			return false
		}
		*values = append(*values, segment[:at+1])
		segment = segment[at+1+len(between):]
	}
	*values = append(*values, segment)
	return segment != ""
}

// Unescape decodes percent-encoding, once. Invalid escapes stay as they are.
func Unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2]); hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
