package run

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// breaks is a contract that panics when it is asked about a path with "broken" in it.
type breaks struct{ anything }

func (b breaks) Objections(method, target string, h transcript.Header, body []byte) []scenario.Objection {
	if strings.Contains(target, "broken") {
		panic("a contract that does not hold")
	}
	return b.anything.Objections(method, target, h, body)
}

// The following steps still run, because one of them may clean up.
func TestAPanicIsAFaultOfItsStep(t *testing.T) {
	s := story(t, `
steps:
  - http: GET /broken
  - parallel:
      left: [{http: GET /broken}]
      right: [{http: GET /whole}]
  - http: GET /whole
`)
	o := options()
	o.Contract = breaks{}
	ts := Scenario(t.Context(), s, []*Target{target(t, "one", http.NotFoundHandler())}, o)
	var faults []string
	for _, step := range ts[0].Steps {
		want := strings.HasSuffix(step.Text, "/broken")
		says := strings.HasPrefix(step.Fault, "lockstep itself failed: a contract that does not hold, at internal_error_test.go:")
		if want != says || want != (len(step.Exchanges) == 0) {
			t.Errorf("step %s %s: fault %q, %d exchanges", step.ID, step.Text, step.Fault, len(step.Exchanges))
		}
		if says {
			faults = append(faults, step.ID)
		}
	}
	if len(faults) != 2 || len(ts[0].Steps) != 4 {
		t.Errorf("faults in %q of %d steps", faults, len(ts[0].Steps))
	}
}
