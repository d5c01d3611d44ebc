package compare

import (
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A fingerprint identifies what is wrong, but not where in the script: by the class, the kind, the place in the message
// and both values. It contains nothing that changes from run to run. Ids, times, ports and unique tokens are replaced
// by their kinds, and the numbers of events and all measured values are left out. So the same mistake has the same
// fingerprint tomorrow and at another step. Another mistake at the same place has another fingerprint.

// Bare returns a text of a target with the generated values replaced by their kinds.
func Bare(rules *Rules, t *transcript.Transcript, text string) string {
	return ident.New(t, t, rules.ids()...).Skeletons().Of(0, text)
}

func (r *Rules) ids() []ident.IDShape {
	if r == nil {
		return nil
	}
	return r.IDs
}

// Fingerprint returns the fingerprint of several texts about a target.
func Fingerprint(rules *Rules, t *transcript.Transcript, parts ...string) string {
	texts := ident.New(t, t, rules.ids()...).Skeletons()
	bare := make([]string, len(parts))
	for i, part := range parts {
		bare[i] = texts.Of(0, withoutCutWords(part))
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
		want, _, _ = strings.Cut(want, streamdiff.StallPrefix)
		want, got = ident.WithoutNumbers(Bare(rules, t, want)), ident.WithoutNumbers(Bare(rules, t, got))
	case ExchangeFailed, StreamBroken: // the bytes before the failure are left out
		got, _, _ = strings.Cut(got, `, after "`)
		got = ident.WithoutNumbers(Bare(rules, t, got))
	case EventAwaited: // how many other events came before is chance
		got, _, _ = strings.Cut(got, "; ")
	}
	return Fingerprint(rules, t, "shortfall", string(s.Kind), place, want, got)
}

// cutWord is the last word of a quoted value that was cut.
var cutWord = regexp.MustCompile(`[0-9A-Za-z_-]*"…`)

// withoutCutWords removes the last word of each quoted value that was cut, because half an id is not recognised.
func withoutCutWords(s string) string { return cutWord.ReplaceAllString(s, `"…`) }
