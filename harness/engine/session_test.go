package engine_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
)

// Scenarios in Go cannot run again, and are not known before they run.
func TestASessionRejectsOptionsForFiles(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	for what, options := range map[string]engine.Options{
		"a selection of scenarios": {Select: project.Selection{Tags: []string{"items"}}},
		"a shard":                  {Shard: project.Shard{Index: 1, Of: 2}},
		"a repetition":             {Confirm: 1},
		"a recording":              {Against: &runfile.Recording{}},
		`target "wromg"`:           {Targets: []string{"right", "wromg"}},
	} {
		var file bytes.Buffer
		options.RunFile = &file
		_, err := engine.Begin(t.Context(), p, &options)
		if usage, ok := errors.AsType[*project.UsageError](err); !ok || !strings.Contains(usage.What, what) || usage.Fix == "" {
			t.Errorf("%s: %v", what, err)
		}
		if file.Len() > 0 {
			t.Errorf("%s: a run file was begun: %s", what, &file)
		}
	}
}
