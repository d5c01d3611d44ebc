package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A fingerprint names what is said, not where in the script: the class, the kind, the place in the message, both values.
// What is another in each run is no part of it: ids, times, ports and unique tokens are replaced by their kinds, events
// and heartbeats have no numbers, and what was measured has none either. The same mistake has the same fingerprint
// tomorrow, and at the next step; another mistake at the same place has another.

// Bare returns a text of a target with its made-up values replaced by their kinds.
func Bare(rules *Rules, t *transcript.Transcript, text string) string {
	return ident.New(t, t, rules.ids()...).Skeleton(0, text)
}

func (r *Rules) ids() []ident.IDShape {
	if r == nil {
		return nil
	}
	return r.IDs
}

// Fingerprint names what is said of a target, in so many parts.
func Fingerprint(rules *Rules, t *transcript.Transcript, parts ...string) string {
	b := ident.New(t, t, rules.ids()...)
	bare := make([]string, len(parts))
	for i, part := range parts {
		bare[i] = b.Skeleton(0, withoutCutWords(part))
	}
	return diff.Fingerprint(bare...)
}

// fingerprint names an unmet demand.
func (s *Unmet) fingerprint(rules *Rules, t *transcript.Transcript) string {
	place, want, got := s.Place, s.Want, s.Got
	if s.Stream != "" || s.Kind == UpstreamUnexpected { // which of them came first is chance
		place = diff.Unnumbered(place)
	}
	switch s.Kind {
	case HeartbeatLate, HeartbeatEarly, HeartbeatMissing:
		want, _, _ = strings.Cut(want, stallPrefix)
		want, got = withoutNumbers(Bare(rules, t, want)), withoutNumbers(Bare(rules, t, got))
	case ExchangeFailed, StreamBroken: // the bytes that came until then are evidence
		got, _, _ = strings.Cut(got, `, after "`)
		got = withoutNumbers(Bare(rules, t, got))
	case EventAwaited: // how many other events came until then is chance
		got, _, _ = strings.Cut(got, "; ")
	}
	return Fingerprint(rules, t, "shortfall", string(s.Kind), place, want, got)
}

// withoutNumbers returns a text without its numbers: times and sizes that were measured.
func withoutNumbers(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if !ident.Digit(s[i]) {
			out.WriteByte(s[i])
			continue
		}
		for i+1 < len(s) && (ident.Digit(s[i+1]) || s[i+1] == '.' && i+2 < len(s) && ident.Digit(s[i+2])) {
			i++
		}
		out.WriteString("‹n›")
		for _, unit := range [...]string{"ms", "µs", "ns", "s"} { // 900 ms one day are 1.1 s the next
			if strings.HasPrefix(s[i+1:], unit) && ident.Ends(s[i+1:], len(unit)) {
				i += len(unit)
				break
			}
		}
	}
	return out.String()
}

// withoutCutWords returns a text whose quoted values that were cut end before their last word: half an id is not recognised.
func withoutCutWords(s string) string {
	const cut = `"…`
	var out strings.Builder
	for {
		i := strings.Index(s, cut)
		if i < 0 {
			out.WriteString(s)
			return out.String()
		}
		end := i
		for end > 0 && (ident.Alnum(s[end-1]) || s[end-1] == '-' || s[end-1] == '_') {
			end--
		}
		out.WriteString(s[:end] + cut)
		s = s[i+len(cut):]
	}
}
