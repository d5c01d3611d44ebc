package agenttest

import (
	"fmt"
)

// A SessionScenario is what the CLI does after a prompt.
type SessionScenario struct {
	Name        string
	Description string
	Steps       []ScenarioStep
}

// A ScenarioStep is an [Assistant], a [ToolUse], an [ExpectResult] or a [Result].
type ScenarioStep interface{ isStep() }

// An Assistant step says something.
type Assistant struct{ Content string }

// A ToolUse step calls a tool. An ExpectResult must follow.
type ToolUse struct {
	Name      string
	Args      map[string]any
	ToolUseID string // default: tool_use_<index of the step>
	Server    string // default: the only one that the SDK announces
}

// An ExpectResult step waits for the result of the call, and shows it to the model.
type ExpectResult struct{}

// A Result step ends the session. It is the last one.
type Result struct{ Stats ResultStats }

// ResultStats are the figures of a result.
type ResultStats struct {
	Cost   float64
	Tokens int
}

func (Assistant) isStep()    {}
func (ToolUse) isStep()      {}
func (ExpectResult) isStep() {}
func (Result) isStep()       {}

// check returns the first mistake.
func (s *SessionScenario) check() error {
	if s.Name == "" {
		return fmt.Errorf("a scenario has no name")
	}
	calling := false
	for i, step := range s.Steps {
		problem := ""
		_, expects := step.(ExpectResult)
		switch step := step.(type) {
		case ToolUse:
			if step.Name == "" {
				problem = "the tool has no name"
			} else if step.Args == nil {
				problem = "the args are not an object"
			}
		case Result:
			if i < len(s.Steps)-1 {
				problem = "result is not the last step"
			}
		case nil:
			problem = "it is nil"
		}
		if calling != expects {
			problem = "tool_use and expect_result must follow each other"
		}
		if problem != "" {
			return s.problem(i, "%s", problem)
		}
		_, calling = step.(ToolUse)
	}
	if len(s.Steps) == 0 {
		return s.problem(0, "there is no result")
	}
	if _, ok := s.Steps[len(s.Steps)-1].(Result); !ok {
		return s.problem(len(s.Steps)-1, "the last step is not a result")
	}
	return nil
}

func (s *SessionScenario) problem(step int, text string, args ...any) error {
	return fmt.Errorf("scenario %q, step %d: %s", s.Name, step, fmt.Sprintf(text, args...))
}

// CalculatorScenario calls add with 15 and 27.
func CalculatorScenario() SessionScenario {
	return SessionScenario{Name: "calculator", Description: "one call", Steps: []ScenarioStep{
		Assistant{"I will add the numbers."},
		ToolUse{Name: "add", Args: map[string]any{"a": 15, "b": 27}},
		ExpectResult{},
		Assistant{"The sum is 42."},
		Result{ResultStats{Cost: 0.001, Tokens: 100}},
	}}
}

// ToolErrorScenario calls divide with 10 and 0, and completes although that fails.
func ToolErrorScenario() SessionScenario {
	return SessionScenario{Name: "tool error", Description: "a call that fails", Steps: []ScenarioStep{
		Assistant{"I will divide the numbers."},
		ToolUse{Name: "divide", Args: map[string]any{"a": 10, "b": 0}},
		ExpectResult{},
		Assistant{"Numbers cannot be divided by zero."},
		Result{ResultStats{Cost: 0.001, Tokens: 120}},
	}}
}

// MultiToolScenario calls add with 100 and 50, and then subtract with 150 and 25.
func MultiToolScenario() SessionScenario {
	return SessionScenario{Name: "several tools", Description: "two calls, one after the other", Steps: []ScenarioStep{
		ToolUse{Name: "add", Args: map[string]any{"a": 100, "b": 50}},
		ExpectResult{},
		ToolUse{Name: "subtract", Args: map[string]any{"a": 150, "b": 25}},
		ExpectResult{},
		Assistant{"The result is 125."},
		Result{ResultStats{Cost: 0.002, Tokens: 200}},
	}}
}
