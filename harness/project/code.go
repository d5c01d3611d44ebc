package project

import (
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/scenario"
)

// A CodeCheck checks a scenario in code, step by step, as Load checks those in files.
type CodeCheck struct{ check scenarioCheck }

// CheckCode checks what comes before the steps of a scenario in code. It gives the scenario targets of its own if all
// scenarios of the project have them.
func CheckCode(p *Project, s *scenario.Scenario) (*CodeCheck, scenario.Problems) {
	s.Fresh = s.Fresh || areDrivers(p.Targets)
	problems := append(checkStubs(p, s), checkSetup(p, s)...)
	if s.Directory && !s.Fresh {
		problems = append(problems, scenario.Problem{
			File: s.File, Line: s.Line, What: "it uses ${{ directory }}, but a scenario in code shares targets that were started without one",
			Fix: `add "isolate": "fresh"`,
		})
	}
	return &CodeCheck{scenarioCheck{p: p, s: s, opened: map[string]*contract.Operation{}}}, withoutColumns(problems)
}

// Step checks the next step.
func (c *CodeCheck) Step(step *scenario.Step) scenario.Problems {
	step.Walk(c.check.step)
	return c.take()
}

// End checks what depends on all steps.
func (c *CodeCheck) End() scenario.Problems {
	c.check.streamRules()
	return c.take()
}

func (c *CodeCheck) take() scenario.Problems {
	problems := c.check.problems
	c.check.problems = nil
	return withoutColumns(problems)
}

// withoutColumns removes the columns, which are not those of the code.
func withoutColumns(problems scenario.Problems) scenario.Problems {
	for i := range problems {
		problems[i].Column = 0
	}
	return problems.Sort()
}
