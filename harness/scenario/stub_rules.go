package scenario

import (
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// ParseStubRules reads a file with a list of rules for one stub. Expressions in it can only use unique.
func ParseStubRules(file string, data []byte) ([]StubRule, Problems) {
	root, problems := yamldoc.Parse(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	d := newDecoder(file, nil)
	d.checkUses(root, scope{map[string]bool{"unique": true}, map[string]bool{}, map[string]bool{}, map[string]end{}, nameUses{}})
	if problems := playbookSchema().Check(file, root); len(problems) > 0 {
		return nil, append(problems, d.problems...).Sort()
	}
	rules := d.stubRules(root)
	if len(d.problems) > 0 {
		return nil, d.problems.Sort()
	}
	return rules, nil
}
