package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A fingerprint identifies what is wrong, but not where in the script: by the class, the kind, the place in the message
// and both values. It contains nothing that changes from run to run. Ids, times, ports and unique tokens are replaced
// by their kinds, and the numbers of events and all measured values are left out. So the same mistake has the same
// fingerprint tomorrow and at another step. Another mistake at the same place has another fingerprint.

// Bare returns a text of a target with the generated values replaced by their kinds.
func Bare(rules *Rules, t *transcript.Transcript, text string) string {
	return ident.New(t, t, rules.ids()...).Skeleton(0, text)
}

func (r *Rules) ids() []ident.IDShape {
	if r == nil {
		return nil
	}
	return r.IDs
}

// Fingerprint returns the fingerprint of several texts about a target.
func Fingerprint(rules *Rules, t *transcript.Transcript, parts ...string) string {
	b := ident.New(t, t, rules.ids()...)
	bare := make([]string, len(parts))
	for i, part := range parts {
		bare[i] = b.Skeleton(0, withoutCutWords(part))
	}
	return diff.Fingerprint(bare...)
}

// fingerprint returns the fingerprint of an unmet demand.
func (s *Unmet) fingerprint(rules *Rules, t *transcript.Transcript) string {
	place, want, got := s.Place, s.Want, s.Got
	if s.Stream != "" || s.Kind == UpstreamUnexpected { // their order is chance
		place = diff.Unnumbered(place)
	}
	switch s.Kind {
	case HeartbeatLate, HeartbeatEarly, HeartbeatMissing:
		want, _, _ = strings.Cut(want, stallPrefix)
		want, got = withoutNumbers(Bare(rules, t, want)), withoutNumbers(Bare(rules, t, got))
	case ExchangeFailed, StreamBroken: // the bytes before the failure are left out
		got, _, _ = strings.Cut(got, `, after "`)
		got = withoutNumbers(Bare(rules, t, got))
	case EventAwaited: // how many other events came before is chance
		got, _, _ = strings.Cut(got, "; ")
	}
	return Fingerprint(rules, t, "shortfall", string(s.Kind), place, want, got)
}

// withoutNumbers replaces the numbers in a text: times and sizes that were measured.
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
		for _, unit := range [...]string{"ms", "µs", "ns", "s"} { // 900 ms today may be 1.1 s tomorrow
			if strings.HasPrefix(s[i+1:], unit) && ident.Ends(s[i+1:], len(unit)) {
				i += len(unit)
				break
			}
		}
	}
	return out.String()
}

// withoutCutWords removes the last word of each quoted value that was cut, because half an id is not recognised.
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
