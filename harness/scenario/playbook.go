package scenario

import (
	"sync"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// playbookSchema is that of a file that is a list of rules, as a scenario has them for each of its stubs.
var playbookSchema = sync.OnceValue(func() *yamldoc.Schema {
	return yamldoc.MustSchema([]byte(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://lockstep-dev.github.io/lockstep/playbook.schema.json",
  "type": "array", "minItems": 1, "items": {"$ref": "scenario.schema.json#/$defs/stubRule"}
}`), Schema)
})

// ParseStubRules reads a file that is a list of rules for one stub. Expressions in it know unique alone.
func ParseStubRules(file string, data []byte) ([]StubRule, Problems) {
	root, problems := yamldoc.Parse(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	d := decoder{file: file, named: map[string]bool{}, given: map[string]bool{}}
	d.uses(root, scope{map[string]bool{"unique": true}, map[string]bool{}, map[string]bool{}, map[string]end{}, doings{}})
	if problems := playbookSchema().Check(file, root); len(problems) > 0 {
		return nil, append(problems, d.problems...).Sort()
	}
	rules := d.stubRules(root)
	if len(d.problems) > 0 {
		return nil, d.problems.Sort()
	}
	return rules, nil
}
