package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestTrailersAreComparedWithoutARule(t *testing.T) {
	trailer := func(fields ...string) (out transcript.Header) {
		for i := 0; i < len(fields); i += 2 {
			out = append(out, transcript.Field{Name: fields[i], Value: fields[i+1]})
		}
		return out
	}
	for _, tc := range []struct {
		name      string
		ref, cand transcript.Header
		want      []string
	}{
		{"none", nil, nil, nil},
		{"equal, in another order and case", trailer("Digest", "a", "X-Took", "3"), trailer("x-took", "3", "digest", "a"), nil},
		{"another value", trailer("Digest", "a"), trailer("digest", "b"), []string{"header-value trailer Digest"}},
		{"missing", trailer("digest", "a"), nil, []string{"header-missing trailer Digest"}},
		{"extra", nil, trailer("Digest", "a"), []string{"header-extra trailer Digest"}},
		{"made up", trailer("X-Id", uuidA), trailer("X-Id", uuidX), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref, cand := newSide("ref").answers(`{}`), newSide("cand").answers(`{}`)
			ref.t.Steps[0].Exchanges[0].Response.Trailer = tc.ref
			cand.t.Steps[0].Exchanges[0].Response.Trailer = tc.cand
			if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, nil))); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}
