package report

import "github.com/lockstep-dev/lockstep/harness/verdict"

// Within a scenario, what a finding about ids is about are the values: two ids may be confused with two others at the same
// place. Every scenario has ids of its own, and there the same mistake has the same fingerprint.

// confusions finds what was said of ids in a scenario before.
type confusions map[confusionKey]confusion

type confusionKey struct {
	blame                verdict.Blame
	fingerprint, targets string
	waiver, note         string
	known                bool
}

type confusion struct {
	scenario *verdict.Scenario
	*cause
}

func confusionOf(c *cause) (key confusionKey, ok bool) {
	if c.Kind != "identity" || c.Fingerprint == "" {
		return confusionKey{}, false
	}
	return confusionKey{c.Blame, c.Fingerprint, keyOf(c).targets, c.Waiver, c.Note, c.Known}, true
}

// put notes what is shown of a scenario. The first that says it stays.
func (x confusions) put(s *verdict.Scenario, c *cause) {
	if key, ok := confusionOf(c); ok && x[key].cause == nil {
		x[key] = confusion{s, c}
	}
}

// again returns the cause of an earlier scenario that has the same fingerprint, and notes there that it is said in this
// one too; nil when there is none.
func (x confusions) again(s *verdict.Scenario, c *cause) *cause {
	key, ok := confusionOf(c)
	if !ok || x[key].cause == nil || x[key].scenario == s {
		return nil
	}
	first := x[key].cause
	first.also = append(first.also, spot{s, c})
	return first
}
