package jsondiff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Values that are read side by side are bound and reported as if they were in trees, and no tree is built.
func TestPartsOfOneSumAreReadSideBySide(t *testing.T) {
	pad := fmt.Sprintf(`"pad":"%s"`, strings.Repeat("lamp ", 40))
	record := func(id, second, escaped string) string {
		return fmt.Sprintf(`{"id":"%s","at":"2025-12-06T05:46:%sZ","n":[1,null,true,false,-1.50],"name":"%s",%s}`, id, second, escaped, pad)
	}
	for _, tc := range []struct {
		name      string
		ref, cand string
		trees     bool // the second record is read into a tree
		want      []string
	}{
		{"ids", record("ses_0a1b2c3d4e5f", "40", "a"), record("ses_ffeeddcc1122", "41", "a"), false, nil},
		{"the same ids", record("ses_0a1b2c3d4e5f", "40", "a"), record("ses_0a1b2c3d4e5f", "41", "a"), false, []string{"identity /1/id"}},
		{"an escape", record("ses_0a1b2c3d4e5f", "40", `\u0061\"`), record("ses_ffeeddcc1122", "41", `a\"`), false, nil},
		{"a time far away", record("ses_0a1b2c3d4e5f", "40", "2025-12-06T05:46:40Z"), record("ses_ffeeddcc1122", "41", "2024-12-06T05:46:40Z"), false, []string{"value /1/name"}},
		{"another text", record("ses_0a1b2c3d4e5f", "40", "a"), record("ses_ffeeddcc1122", "41", "b"), true, []string{"value /1/name"}},
	} {
		b := ident.New(&transcript.Transcript{}, &transcript.Transcript{})
		seen := time.Unix(1765000000, 0)
		var got []string
		d := newDocuments(setting{ids: b, history: &history{}, place: ident.Place{Where: ident.InStep("1", diff.At{}), Seen: [2]time.Time{seen, seen}}, report: func(d diff.Difference) { got = append(got, string(d.Kind)+" "+d.At.InContract(0)) }})
		first := [2]string{record("ses_0a1b2c3d4e5f", "40", "x"), record("ses_ffeeddcc1122", "40", "x")}
		if strings.Contains(tc.name, "the same") {
			first = [2]string{record("ses_1a1b2c3d4e5f", "40", "x"), record("ses_0a1b2c3d4e5f", "40", "x")}
		}
		var roots [2]*jsontree.Node
		for side, second := range [2]string{tc.ref, tc.cand} {
			text := []byte("[" + first[side] + "," + second + "]")
			var ok bool
			if roots[side], ok = jsontree.Summarize(text, shapeSkeleton); !ok {
				t.Fatalf("%s: no summary of %s", tc.name, text)
			}
			d.sums.whole[side].text = text
		}
		d.node(nil, roots[0], roots[1])
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if made := len(roots[0].Items) > 0; made != tc.trees {
			t.Errorf("%s: a tree was made: %t, want %t", tc.name, made, tc.trees)
		}
		id, partner := first[0][len(`{"id":"`):][:16], first[1][len(`{"id":"`):][:16]
		if named := b.NamedSkeletons(); named.Of(0, id) != named.Of(1, partner) {
			t.Errorf("%s: the first id is not bound to %q", tc.name, partner)
		}
	}
}

// A value that becomes known on the way can change how elements are paired. From then on, lists are compared as trees.
func TestAWalkSideBySideEndsWhereSomethingBecomesKnown(t *testing.T) {
	document := func(first, second, third string) []string {
		return []string{fmt.Sprintf(`[{"call":"call %s","list":["call %s","call %s"],"pad":"%0200d"}]`, first, second, third, 0)}
	}
	ref := document("1765000000000", "1765000000000", "1765000000002")
	cand := document("1765000000001", "1765000000003", "1765000000001")
	want := lookedAt(t, ref, cand, Parse, true)
	if diff := cmp.Diff(want, lookedAt(t, ref, cand, summarize, false)); diff != "" {
		t.Errorf("(-all looked at +some passed over):\n%s", diff)
	}
	if !strings.Contains(want[0], "order") {
		t.Errorf("the list is compared otherwise than this test has been made for: %s", want[0])
	}
}

func TestAWalkSideBySideComparesTimes(t *testing.T) {
	document := func(created, updated string) []string {
		return []string{fmt.Sprintf(`[{"of":{"at":"2025-12-06T05:46:41Z"},"createdAt":"2025-12-06T05:%sZ","n":1,"updatedAt":"2025-12-06T05:%sZ","pad":"%0200d"}]`, created, updated, 0)}
	}
	for _, tc := range []struct {
		ref, cand []string
		want      string
	}{
		{document("46:40", "50:40"), document("50:40", "46:40"), "a different order"},
		{document("46:40", "50:40"), document("46:41", "50:41"), "["},
		{document("46:40", "50:40"), document("46:40", "58:40"), "["},
	} {
		want := lookedAt(t, tc.ref, tc.cand, Parse, true)
		if diff := cmp.Diff(want, lookedAt(t, tc.ref, tc.cand, summarize, false)); diff != "" {
			t.Errorf("%s and %s (-all looked at +some passed over):\n%s", tc.ref, tc.cand, diff)
		}
		if !strings.Contains(want[0], tc.want) {
			t.Errorf("%s and %s: %s, want %s", tc.ref, tc.cand, want[0], tc.want)
		}
	}
}
