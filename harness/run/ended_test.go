package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub/mcp/record"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// afterTheEnd returns a stage with two targets whose processes have ended, because the scenario wanted it or not.
func afterTheEnd(wanted bool, directories ...string) *stage {
	r := &stage{opts: &Options{}, scenario: &scenario.Scenario{Fresh: true, Directory: true}}
	for i := range 2 {
		life := &life{exited: make(chan struct{})}
		close(life.exited)
		w := &walker{stage: r, server: &Target{Process: life}, t: &transcript.Transcript{}, stopped: wanted}
		if directories != nil {
			w.server.Directory = directories[i]
		}
		r.walkers = append(r.walkers, w)
	}
	return r
}

// A stub notices a moment later that a process which has ended does not wait for its answer any more: on one side it may have,
// and on the other not.
func TestThatTargetsWhichHaveEndedLetGoOfTheirUpstreamsIsWaitedFor(t *testing.T) {
	r := afterTheEnd(true)
	var notice []func(*transcript.Exchange)
	for _, w := range r.walkers {
		u := &upstream{w: w, name: "llm", underWay: map[*transcript.Step]int{}, gone: map[string]int{}}
		w.upstreams = []*upstream{u}
		notice = append(notice, u.begin(u.step("chat"), true))
	}
	hungUp := func() *transcript.Exchange {
		return &transcript.Exchange{Failure: &transcript.Failure{Kind: transcript.FailCanceled}}
	}
	for i, told := range notice {
		if r.upstreamsSettled(true) {
			t.Fatalf("it is settled when it was noticed of %d of 2", i)
		}
		told(hungUp())
	}
	if !r.upstreamsSettled(true) {
		t.Error("it is not settled when all is noticed")
	}
	r = afterTheEnd(false)
	u := &upstream{w: r.walkers[0], name: "llm", underWay: map[*transcript.Step]int{}}
	r.walkers[0].upstreams = []*upstream{u}
	u.begin(u.step("chat"), true)
	if !r.upstreamsSettled(true) {
		t.Error("what comes of processes that have crashed is waited for")
	}
}

// An MCP server outlives the target that has started it by the time that it takes to read what it was sent.
func TestWhatWasSentByTargetsThatHaveEndedIsWaitedFor(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	r := afterTheEnd(true, dirs...)
	write := func(dir string) {
		file, err := os.Create(filepath.Join(dir, "tools"+record.Suffix))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := record.Write(file, record.Message{Method: "notifications/cancelled"}); err != nil {
			t.Fatal(err)
		}
	}
	write(dirs[0])
	if r.recordsSettled() {
		t.Error("it is settled when one has written down more than the other")
	}
	if !afterTheEnd(false, dirs...).recordsSettled() {
		t.Error("what comes of processes that have crashed is waited for")
	}
	write(dirs[1])
	if !r.recordsSettled() {
		t.Error("it is not settled when both have written down the same")
	}
}
