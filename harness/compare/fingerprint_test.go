package compare

import (
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestAFingerprintLeavesOutWhatIsMadeUp(t *testing.T) {
	fingerprint := func(unique, id, name string) string {
		t.Helper()
		ref, cand := newSide("ref"), newSide("cand")
		ref.t.Unique = unique
		h := transcript.Header{{Name: "Location", Value: "/" + unique + "/ses_" + id + "/" + name}}
		all := compared(ref.exchange(200, h, ""), cand.exchange(200, nil, ""), &Rules{Headers: []string{"Location"}}).Differences
		if len(all) != 1 {
			t.Fatalf("%d differences, want 1", len(all))
		}
		return all[0].Fingerprint
	}
	first := fingerprint("uref00000001", "0a1b2c3d4e5f", "lamp")
	if same := fingerprint("uref00000002", "ffeeddcc1122", "lamp"); same != first || same == "" {
		t.Errorf("of other ids: %q, want %q", same, first)
	}
	if other := fingerprint("uref00000001", "0a1b2c3d4e5f", "chair"); other == first {
		t.Errorf("of another value: %q again", other)
	}
}

func TestADifferenceBetweenIdsIsLikeNoOther(t *testing.T) {
	body := `{"id":"ses_0a1b2c3d4e5f"}`
	got := compared(newSide("ref").answers(body, body), newSide("cand").answers(body, `{"id":"ses_ffeeddcc1122"}`), nil)
	if len(got.Differences) != 1 || got.Differences[0].Fingerprint != "" {
		t.Errorf("differences %+v", got.Differences)
	}
}

func TestFingerprintsOfShortfalls(t *testing.T) {
	s, other := newSide("ref").answers(`1`), newSide("cand").answers(`1`)
	for _, s := range []side{s, other} {
		s.t.Steps[0].Unmet = &transcript.Unmet{Kind: "event", What: "event of c-" + s.t.Unique, Why: "it did not come"}
	}
	a, b := Shortfalls(s.t, &Rules{}), Shortfalls(other.t, &Rules{})
	if a[0].Fingerprint == "" || a[0].Fingerprint != b[0].Fingerprint {
		t.Errorf("fingerprints %q and %q, want one", a[0].Fingerprint, b[0].Fingerprint)
	}
}
