package scenario

import (
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// ParseStubRules reads a file with a list of rules for one stub. Expressions in it can only use unique, and what
// the scripts of the rules capture.
func ParseStubRules(file string, data []byte) ([]StubRule, Problems) {
	root, problems := yamldoc.Parse(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	d := newDecoder(file, nil)
	s := scope{map[string]bool{"unique": true}, map[string]bool{}, map[string]bool{}, map[string]end{}, nameUses{}}
	d.names.ruleCaptures(root, s)
	d.names.checkUses(root, s)
	if problems := playbookSchema().Check(file, root); len(problems) > 0 {
		return nil, append(problems, d.values.problems...).Sort()
	}
	rules := d.stub.stubRules(root)
	if len(d.values.problems) > 0 {
		return nil, d.values.problems.Sort()
	}
	return rules, nil
}
