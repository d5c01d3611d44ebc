// Package baseline reads and writes baseline.json: the findings that existed when it was written.
//
// With it, a project accepts what exists and rejects what is new. Package verdict decides what it accepts.
package baseline

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Format is the version of the file's format. It grows when an old reader would misread the new format. Files of the
// first format, which have no targets, can be read too.
const Format = 2

// Schema is the JSON Schema of the file.
//
//go:embed baseline.schema.json
var Schema []byte

var compiled = sync.OnceValue(func() *yamldoc.Schema { return yamldoc.MustSchema(Schema) })

// An Entry is what identifies a finding.
type Entry struct {
	Scenario string `json:"scenario"`
	// Target is the target of the finding. In a baseline of the first format it is "", which means any target.
	Target      string `json:"target,omitempty"`
	At          string `json:"at"`
	Class       string `json:"class"`
	Kind        string `json:"kind"`
	Fingerprint string `json:"fingerprint"`
}

// WithoutTarget returns the entry without its target.
func (k Entry) WithoutTarget() Entry {
	k.Target = ""
	return k
}

// Parse reads a baseline. The result is not nil when there are no problems.
func Parse(file string, data []byte) ([]Entry, problem.Problems) {
	root, problems := yamldoc.Parse(file, data) // JSON is also YAML, and this parser knows the places of mistakes
	if len(problems) == 0 {
		problems = compiled().Check(file, root)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	out := []Entry{}
	for _, n := range root.Get("findings").Elements() {
		target := ""
		if t := n.Get("target"); t != nil {
			target = t.Text
		}
		out = append(out, Entry{
			Scenario: n.Get("scenario").Text, Target: target, At: n.Get("at").Text, Class: n.Get("class").Text,
			Kind: n.Get("kind").Text, Fingerprint: n.Get("fingerprint").Text,
		})
	}
	return out, nil
}

// Text returns a baseline as the text of the file, with one finding per line. They are sorted by scenario and place, so
// that two versions can be compared.
func Text(all []Entry) ([]byte, error) {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b Entry) int {
		return cmp.Or(
			cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.At, b.At), cmp.Compare(a.Class, b.Class),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.Target, b.Target),
		)
	})
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n  \"format\": %d,\n  \"findings\": [", Format)
	separator := "\n    "
	for _, k := range slices.Compact(sorted) {
		line, err := json.Marshal(k)
		if err != nil {
			return nil, fmt.Errorf("baseline: %w", err)
		}
		out.WriteString(separator)
		out.Write(line)
		separator = ",\n    "
	}
	if len(sorted) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("]\n}\n")
	return out.Bytes(), nil
}
