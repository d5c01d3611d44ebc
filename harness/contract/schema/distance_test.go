package schema

import (
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// Reporting and measuring are two implementations of the same rules. If one finds nothing wrong, the other must not
// either.
func TestDistanceAgreesWithTheReport(t *testing.T) {
	schemas := []string{"Pet", "Cat", "Dog", "Puppy", "Tree", "Self", "Named", "Aged", "Maybe", "Old", "Car", "Van", "Plant", "Fern", "Moss"}
	values := []string{`null`, `1`, `"a"`, `[]`, `{}`, `{"kind":"Cat"}`, `{"kind":"hound"}`, `{"kind":"Cow"}`, `{"name":1}`, `{"age":1}`,
		`{"kind":"Puppy","bark":true}`, `{"value":1.5}`, `{"children":[{"value":"x"}]}`, `{"id":"1","pw":"2"}`, `{"kind":"Dog","bark":1}`, `{"make":"far"}`,
		`{"make":"own"}`, `{"fronds":1}`, `{"cushions":1}`, `{"fronds":"1"}`, `{"fronds":1,"cushions":1}`}
	pets := compile(t, load(t, testfile.Text(t, "testdata/pets.yaml")))
	for _, name := range schemas {
		s := pets[name]
		for _, value := range values {
			n := mustTree(t, value)
			measure, report := NewJudge(ToClient, false, 0), NewJudge(ToClient, false, 10)
			distance := measure.measurer.distance(n, s)
			report.value(n, s, nil)
			if (distance == 0) != (len(report.measurer.keywords.found) == 0) {
				t.Errorf("%s as %s: distance %d, findings %v", value, name, distance, report.measurer.keywords.found)
			}
		}
	}
}
