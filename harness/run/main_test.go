package run

import (
	"os"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// bareRun returns the run of a scenario without steps.
func bareRun(opts *Options, target *Target) *targetRun {
	return &targetRun{
		opts: opts, scenario: &scenario.Scenario{Fresh: true, Directory: true}, target: target,
		t: &transcript.Transcript{Started: time.Now()},
	}
}

// bareSession returns a session without steps and drivers.
func bareSession(opts *Options) *session {
	return &session{
		opts: opts, script: &scenario.Script{}, random: seeded(1, ""), recorded: recording{&transcript.Transcript{}},
	}
}
