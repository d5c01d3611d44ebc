package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

func TestIDsAreGeneratedInTheSameForm(t *testing.T) {
	const (
		hex12 = "0a1b2c3d4e5f"
		uuid  = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
		uuid2 = "ffeeddcc-bbaa-4998-8776-655443322110"
	)
	for _, tc := range []struct {
		name      string
		ref, cand []string // ids, each in its own step
		want      []string // each is "step kind: text"
	}{
		{"alike", []string{"ord_" + hex12, uuid}, []string{"ord_ffeeddcc1122", uuid2}, nil},
		{"another prefix", []string{"ord_" + hex12}, []string{"order_ffeeddcc1122"}, []string{`1 id-form: the ids have different prefixes: "ord_" and "order_"`}},
		{"another prefix of the same length", []string{"rcp_" + hex12}, []string{"rec_ffeeddcc1122"}, []string{`1 id-form: the ids have different prefixes: "rcp_" and "rec_"`}},
		{"another joint", []string{"ord_" + hex12}, []string{"ord-ffeeddcc1122"}, []string{`1 id-form: the ids have different prefixes: "ord_" and "ord-"`}},
		{"another prefix, again", []string{"ord_" + hex12, "ord_" + hex12}, []string{"rec_ffeeddcc1122", "rec_ffeeddcc1122"}, []string{
			`1 id-form: the ids have different prefixes: "ord_" and "rec_"`, `2 id-form: the ids have different prefixes: "ord_" and "rec_"`,
		}},
		{"another prefix in a longer text", []string{"/orders/ord_" + hex12}, []string{"/orders/rec_ffeeddcc1122"}, []string{`1 value: the texts differ`}},
		{"another length, told once of an id", []string{"ord_" + hex12, "ord_" + hex12}, []string{"ord_ffeeddcc112233", "ord_ffeeddcc112233"}, []string{
			`1 id-form: the ids have different lengths: 12 characters after "ord_", and 14`,
		}},
		{"another length in a longer text", []string{"/orders/ord_" + hex12}, []string{"/orders/ord_ffeeddcc112233"}, []string{
			`1 id-form: the ids have different lengths: 12 characters after "ord_", and 14`,
		}},
		{"another case", []string{"ord_" + hex12}, []string{"ord_FFEEDDCC1122"}, []string{
			"1 id-form: the ids use different characters: lower-case hexadecimal digits, and upper-case hexadecimal digits",
		}},
		{"letters beyond f", []string{"ord_0a1b2c3d4e5f0a1b2c3d"}, []string{"ord_zzyyxxwwvvuu11223344"}, []string{
			"1 id-form: the ids use different characters: lower-case hexadecimal digits, and lower-case letters and digits",
		}},
		{"no letters, which may be chance", []string{"ord_" + hex12}, []string{"ord_123456789012"}, nil},
		{"no letters, once too often", []string{"ord_" + hex12, "ord_aabbccddee11", "ord_aabbccddee22"}, []string{"ord_123456789012", "ord_223456789012", "ord_323456789012"}, []string{
			"3 id-form: the ids use different characters: lower-case hexadecimal digits, and digits",
		}},
		{"letters that come later", []string{"ord_" + hex12, "ord_aabbccddee11", "ord_aabbccddee22"}, []string{"ord_123456789012", "ord_2234567890ab", "ord_323456789012"}, nil},
		{"a UUID in upper case", []string{uuid}, []string{strings.ToUpper(uuid2)}, []string{
			"1 id-form: the ids are written differently: in lower case and in upper case",
		}},
		{"a UUID that changes its case", []string{uuid, uuid}, []string{uuid2, strings.ToUpper(uuid2)}, []string{
			"2 identity: the candidate has another id (" + `"` + strings.ToUpper(uuid2) + `") where the reference has ‹uuid 1› ("` + uuid + `"); the reference's was paired with the candidate's "` + uuid2 + `" at step 1 body /id`,
		}},
		{"a UUID without letters", []string{uuid}, []string{"11111111-1111-4111-8111-111111111111"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref, cand := newSide("ref"), newSide("cand")
			for i := range tc.ref {
				ref.answers(fmt.Sprintf(`{"id":%q}`, tc.ref[i]))
				cand.answers(fmt.Sprintf(`{"id":%q}`, tc.cand[i]))
			}
			var got []string
			for _, d := range compared(ref, cand, nil).Differences {
				got = append(got, fmt.Sprintf("%s %s: %s", d.Step, d.Kind, d.Text()))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			volatile := &Rules{Volatile: []jsondiff.Volatile{{At: "$.id", Kind: jsondiff.ID}}}
			for _, d := range compared(ref, cand, volatile).Differences {
				if d.Kind == diff.IDForm {
					t.Errorf("with a rule for the place: %s", d.Text())
				}
			}
		})
	}
}

func TestIDsInNamesAreGeneratedInTheSameForm(t *testing.T) {
	ref := newSide("ref").answers(`{"ord_0a1b2c3d4e5f":1}`)
	cand := newSide("cand").answers(`{"ord_ffeeddcc112233":2}`)
	want := []string{"id-form body /ord_0a1b2c3d4e5f", "value body /ord_0a1b2c3d4e5f"}
	if diff := cmp.Diff(want, kinds(compared(ref, cand, nil))); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}
