package compare

import (
	"crypto/sha256"
	sixteen "encoding/hex"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A fingerprint names what is said, not where in the script: the class, the kind, the place in the message, both values.
// What is another in each run is no part of it: ids, times, ports and unique tokens are replaced by their kinds, events
// and heartbeats have no numbers, and what was measured has none either. The same mistake has the same fingerprint
// tomorrow, and at the next step; another mistake at the same place has another.

// Bare returns a text of a target with its made-up values replaced by their kinds.
func Bare(rules *Rules, t *transcript.Transcript, text string) string {
	return newBindings(t, t, rules.ids()...).skeleton(0, text)
}

func (r *Rules) ids() []IDShape {
	if r == nil {
		return nil
	}
	return r.IDs
}

// Fingerprint names what is said of a target, in so many parts.
func Fingerprint(rules *Rules, t *transcript.Transcript, parts ...string) string {
	b := newBindings(t, t, rules.ids()...)
	bare := make([]string, len(parts))
	for i, part := range parts {
		bare[i] = b.skeleton(0, untorn(part))
	}
	return fingerprint(bare...)
}

// fingerprint names a difference. Where the values are more than text, d.Fingerprint stands for them already.
func (c *comparison) fingerprint(d *Difference) string {
	values := d.Fingerprint
	if values == "" {
		values = digest(c.b.skeleton(0, d.Reference), c.b.skeleton(1, d.Candidate))
	}
	place := d.Place
	if d.Stream != "" {
		place = Unnumbered(place)
	}
	bare := c.b.skeleton(0, place)
	if bare != place || c.b.mentions(1, place) {
		bare = c.b.skeleton(1, bare)
	}
	return fingerprint("difference", string(d.Kind), bare, values)
}

// values stands for two values at a spot of two documents, of which one may be missing.
func (d *documents) values(at *spot, ref, cand *jsontree.Node) string {
	var room [256]byte
	bare := room[:0]
	for side, n := range [2]*jsontree.Node{ref, cand} {
		if side > 0 {
			bare = append(bare, 0)
		}
		if n == nil {
			bare = append(bare, absent...)
		} else {
			bare = d.b.sketch(bare, side, n, d.pointer(side, at), d.volatile[side])
		}
	}
	return sum(bare, sha256.Size)
}

// fingerprint names a shortfall.
func (s *Shortfall) fingerprint(rules *Rules, t *transcript.Transcript) string {
	place, want, got := s.Place, s.Want, s.Got
	if s.Stream != "" || s.Kind == UpstreamUnexpected { // which of them came first is chance
		place = Unnumbered(place)
	}
	switch s.Kind {
	case HeartbeatLate, HeartbeatEarly, HeartbeatMissing:
		want, _, _ = strings.Cut(want, andBeyond)
		want, got = uncounted(Bare(rules, t, want)), uncounted(Bare(rules, t, got))
	case ExchangeFailed, StreamBroken: // the bytes that came until then are evidence
		got, _, _ = strings.Cut(got, `, after "`)
		got = uncounted(Bare(rules, t, got))
	case EventAwaited: // how many other events came until then is chance
		got, _, _ = strings.Cut(got, "; ")
	}
	return Fingerprint(rules, t, "shortfall", string(s.Kind), place, want, got)
}

// Unnumbered returns a place on a stream without the number of its event or heartbeat, which depends on what came before:
// "event (ping) data" of "event 3 (ping) data". So it does with the number of a request to a stub.
func Unnumbered(place string) string {
	for _, word := range [...]string{"event", "heartbeat", "request"} {
		rest, ok := strings.CutPrefix(place, word+" ")
		if !ok || rest == "" || !digit(rest[0]) {
			continue
		}
		return word + strings.TrimLeft(rest, "0123456789")
	}
	return place
}

// uncounted returns a text without its numbers: times and sizes that were measured.
func uncounted(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if !digit(s[i]) {
			out.WriteByte(s[i])
			continue
		}
		for i+1 < len(s) && (digit(s[i+1]) || s[i+1] == '.' && i+2 < len(s) && digit(s[i+2])) {
			i++
		}
		out.WriteString("‹n›")
		for _, unit := range [...]string{"ms", "µs", "ns", "s"} { // 900 ms one day are 1.1 s the next
			if strings.HasPrefix(s[i+1:], unit) && ends(s[i+1:], len(unit)) {
				i += len(unit)
				break
			}
		}
	}
	return out.String()
}

// untorn returns a text whose quoted values that were cut end before their last word: half an id is not recognised.
func untorn(s string) string {
	const cut = `"…`
	var out strings.Builder
	for {
		i := strings.Index(s, cut)
		if i < 0 {
			out.WriteString(s)
			return out.String()
		}
		end := i
		for end > 0 && (alnum(s[end-1]) || s[end-1] == '-' || s[end-1] == '_') {
			end--
		}
		out.WriteString(s[:end] + cut)
		s = s[i+len(cut):]
	}
}

// masked returns a text that ought to be JSON and is not, without the values that rules speak of by their names.
func masked(text string, rules []Volatile) string {
	for _, r := range rules {
		name := lastName(r.At)
		if name == "" {
			continue
		}
		var out strings.Builder
		for {
			before, after, ok := strings.Cut(text, quoted(name))
			out.WriteString(before)
			if !ok {
				break
			}
			out.WriteString(quoted(name))
			text = after
			if value := strings.TrimLeft(text, ": \t\r\n"); len(value) < len(text) {
				out.WriteString(":‹" + string(r.Kind) + "›")
				text = strings.TrimLeftFunc(value, func(c rune) bool { return !strings.ContainsRune(",]}\r\n", c) })
			}
		}
		text = out.String()
	}
	return text
}

// FingerprintOf names what is said in so many parts, which are the same in each run.
func FingerprintOf(parts ...string) string { return fingerprint(parts...) }

// fingerprint shortens a digest to what people can copy.
func fingerprint(parts ...string) string { return digestOf(4, parts) }

func digest(parts ...string) string { return digestOf(sha256.Size, parts) }

func digestOf(size int, parts []string) string {
	var room [256]byte
	all := room[:0]
	for i, part := range parts {
		if i > 0 {
			all = append(all, 0)
		}
		all = append(all, part...)
	}
	return sum(all, size)
}

// sum returns so many bytes of a text's SHA-256, as digits.
func sum(text []byte, size int) string {
	all := sha256.Sum256(text)
	var out [2 * sha256.Size]byte
	return string(sixteen.AppendEncode(out[:0], all[:size]))
}
