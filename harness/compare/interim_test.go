package compare

import (
	"slices"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestInterimResponsesAreCompared(t *testing.T) {
	hint := func(fields ...string) transcript.Interim {
		r := transcript.Interim{Status: 103}
		for i := 0; i < len(fields); i += 2 {
			r.Header = append(r.Header, transcript.Field{Name: fields[i], Value: fields[i+1]})
		}
		return r
	}
	on := transcript.Interim{Status: 100}
	for _, tc := range []struct {
		name      string
		ref, cand []transcript.Interim
		want      []string
	}{
		{"none", nil, nil, nil},
		{"the same", []transcript.Interim{hint("Link", "</a>")}, []transcript.Interim{hint("link", "</a>")}, nil},
		{"on one side", []transcript.Interim{hint("Link", "</a>")}, nil, []string{"status interim responses: 103 — interim"}},
		{"two for one", []transcript.Interim{hint()}, []transcript.Interim{hint(), hint()}, []string{"status interim responses: 103 103, 103 interim"}},
		{"another link", []transcript.Interim{hint("Link", "</a>")}, []transcript.Interim{hint("Link", "</b>")}, []string{`header-value interim response 1 header Link: "</a>" "</b>" interim`}},
		{"another field that is named", []transcript.Interim{hint("X-A", "1")}, []transcript.Interim{hint()}, []string{`header-missing interim response 1 header X-A: "1" — interim`}},
		{"another field", []transcript.Interim{hint("X-B", "1")}, []transcript.Interim{hint()}, nil},
		{"what depends on chance", []transcript.Interim{on, hint()}, []transcript.Interim{{Status: 102}, hint(), {Status: 102}}, nil},
	} {
		ref, cand := sends([]byte("a")), sends([]byte("a"))
		ref.Steps[0].Exchanges[0].Interim, cand.Steps[0].Exchanges[0].Interim = tc.ref, tc.cand
		var got []string
		for _, d := range Transcripts(nil, ref, cand, &Rules{Headers: []string{"X-A"}}).Differences {
			got = append(got, string(d.Kind)+" "+d.At.String()+": "+d.Ref.String()+" "+d.Cand.String()+" "+d.At.InContract(1))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
