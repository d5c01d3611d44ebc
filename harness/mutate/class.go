package mutate

import (
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// class is where a value comes from.
type class byte

const (
	unknown class = iota // the reference has nothing in its place
	fixed                // both sides have it, but for what is unique to each
	made                 // the server made it up
	moment               // a time of this run
)

// classify says where a value comes from, by what the reference has in its place.
func (s *Subject) classify(v *spot) class {
	n := v.node
	if n.Kind != jsontree.String && n.Kind != jsontree.Number {
		return fixed
	}
	if _, _, ok := timeOf(n.Text, v.doc.seen); ok {
		return moment
	}
	switch {
	case v.ref == nil || v.ref.Kind != n.Kind:
		return unknown
	case s.common(n.Text, 1) == s.common(v.ref.Text, 0) && !s.byChance(v):
		return fixed
	default:
		return made
	}
}

// byChance reports whether a value that is equal on both sides may be made up all the same: a rule calls it volatile and
// nothing in it is the side's own, or an id of the project's shapes or a time of the run is part of it.
func (s *Subject) byChance(v *spot) bool {
	if v.doc.declared[v.pointer] && (s.Candidate.Unique == "" || !strings.Contains(v.node.Text, s.Candidate.Unique)) {
		return true
	}
	return len(s.Rules.OwnIDs(v.node.Text)) > 0 || millisIn(v.node.Text, v.doc.seen) > 0
}

// common returns a text without what is unique to its side.
func (s *Subject) common(text string, side int) string {
	t := s.Reference
	if side == 1 {
		t = s.Candidate
	}
	for _, own := range [...]string{t.Directory, t.Unique} {
		if own != "" {
			text = strings.ReplaceAll(text, own, "\x00")
		}
	}
	return text
}

// A notation is how a time is written.
type notation byte

const (
	seconds notation = iota
	millis
	micros
	nanos
	rfc3339
)

// counts are the notations that count since 1970, by how many digits they have in these years.
var counts = map[int]struct {
	how  notation
	read func(int64) time.Time
}{
	10: {seconds, func(n int64) time.Time { return time.Unix(n, 0) }},
	13: {millis, time.UnixMilli},
	16: {micros, time.UnixMicro},
	19: {nanos, func(n int64) time.Time { return time.Unix(0, n) }},
}

// timeOf reads a text as a time within a day of the moment it was seen.
func timeOf(s string, seen time.Time) (time.Time, notation, bool) {
	var t time.Time
	var how notation
	n, err := strconv.ParseInt(s, 10, 64)
	count, counted := counts[len(s)]
	switch {
	case err == nil && counted:
		t, how = count.read(n), count.how
	case len(s) >= 20 && len(s) <= 35 && s[4] == '-' && s[10] == 'T':
		parsed, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return t, 0, false
		}
		t, how = parsed, rfc3339
	default:
		return t, 0, false
	}
	return t, how, t.Sub(seen).Abs() < 24*time.Hour
}

// write writes a time in a notation.
func (how notation) write(t time.Time) string {
	switch how {
	case seconds:
		return strconv.FormatInt(t.Unix(), 10)
	case millis:
		return strconv.FormatInt(t.UnixMilli(), 10)
	case micros:
		return strconv.FormatInt(t.UnixMicro(), 10)
	case nanos:
		return strconv.FormatInt(t.UnixNano(), 10)
	default:
		return t.Format(time.RFC3339Nano)
	}
}

// like returns a time in the place of a value, of the type that the value has.
func (v *spot) like(text string) string {
	if v.node.Kind == jsontree.Number {
		return text
	}
	return (&jsontree.Node{Kind: jsontree.String, Text: text}).String()
}

// fresh returns another value that is made like one: the last six letters and digits are others, each of its kind.
func fresh(s string, seed uint64) string {
	out := []byte(s)
	left := 6
	for i := len(out) - 1; i >= 0 && left > 0; i-- {
		if next, ok := otherCharacter(out[i], seed+uint64(left)); ok {
			out[i] = next
			left--
		}
	}
	return string(out)
}

// otherCharacter returns another letter or digit of the same kind: hexadecimal letters stay so.
func otherCharacter(c byte, seed uint64) (byte, bool) {
	for _, set := range []string{"0123456789", "abcdef", "ghijklmnopqrstuvwxyz", "ABCDEF", "GHJKMNPQRSTVWXYZ", "ILOU"} {
		if i := strings.IndexByte(set, c); i >= 0 {
			step := 1 + mix(seed)%uint64(len(set)-1)
			return set[(uint64(i)+step)%uint64(len(set))], true
		}
	}
	return c, false
}

// mix scatters a number (SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// erased returns a value as JSON, with a mark in the place of what the server made up: equal for two values that only
// differ in that.
func erased(s *Subject, n, ref *jsontree.Node, seen time.Time) string {
	var out strings.Builder
	erase(&out, s, n, ref, seen)
	return out.String()
}

func erase(out *strings.Builder, s *Subject, n, ref *jsontree.Node, seen time.Time) {
	switch n.Kind {
	case jsontree.Object:
		out.WriteByte('{')
		for i, name := range n.Names {
			var other *jsontree.Node
			if ref != nil && ref.Kind == jsontree.Object {
				other = ref.Member(name)
			}
			out.WriteString(strconv.Quote(name) + ":")
			erase(out, s, n.Items[i], other, seen)
		}
		out.WriteByte('}')
	case jsontree.Array:
		out.WriteByte('[')
		for i, item := range n.Items {
			var other *jsontree.Node
			if ref != nil && ref.Kind == jsontree.Array && i < len(ref.Items) {
				other = ref.Items[i]
			}
			erase(out, s, item, other, seen)
			out.WriteByte(',')
		}
		out.WriteByte(']')
	default:
		_, _, isTime := timeOf(n.Text, seen)
		if isTime || ref == nil || ref.Kind != n.Kind || s.common(n.Text, 1) != s.common(ref.Text, 0) {
			out.WriteString("‹made›")
			return
		}
		out.WriteString(n.String())
	}
}
