package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/stub/mcp/record"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// afterTheEnd returns a session with two targets whose processes have exited: by a step of the scenario if wanted, else
// by themselves.
func afterTheEnd(wanted bool, directories ...string) *session {
	s := bareSession(&Options{})
	for i := range 2 {
		life := &life{exited: make(chan struct{})}
		close(life.exited)
		d := driverOf(bareRun(s.opts, &Target{Process: life}))
		d.process.stopped = wanted
		if directories != nil {
			d.target.Directory = directories[i]
		}
		s.drivers = append(s.drivers, d)
	}
	return s
}

// A stub notices with a delay that a process has exited and no longer waits for its response. One stub may have noticed
// while the other has not.
func TestTheEndOfRequestsFromEndedTargetsToUpstreamsIsAwaited(t *testing.T) {
	s := afterTheEnd(true)
	var notice []func(*transcript.Exchange)
	hangs := func(d *driver) func(*transcript.Exchange) {
		u := newUpstream("llm", &stub.Server{}, nil, 0, d.targetRun, &s.asked)
		d.upstreams.list = []*upstream{u}
		return u.begin(u.step("chat"), true)
	}
	for _, d := range s.drivers {
		notice = append(notice, hangs(d))
	}
	hungUp := func() *transcript.Exchange {
		return &transcript.Exchange{Failure: &transcript.Failure{Kind: transcript.FailCanceled}}
	}
	for i, told := range notice {
		if s.upstreamsSettled(true) {
			t.Fatalf("it is settled when it was noticed of %d of 2", i)
		}
		told(hungUp())
	}
	if !s.upstreamsSettled(true) {
		t.Error("it is not settled when all is noticed")
	}
	s = afterTheEnd(false)
	hangs(s.drivers[0])
	if !s.upstreamsSettled(true) {
		t.Error("what comes of processes that have crashed is waited for")
	}
}

// An MCP server outlives the target that started it, because it still reads what it was sent.
func TestWhatWasSentByTargetsThatHaveEndedIsWaitedFor(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	s := afterTheEnd(true, dirs...)
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
	if s.recordsSettled() {
		t.Error("it is settled when one has written down more than the other")
	}
	if !afterTheEnd(false, dirs...).recordsSettled() {
		t.Error("what comes of processes that have crashed is waited for")
	}
	write(dirs[1])
	if !s.recordsSettled() {
		t.Error("it is not settled when both have written down the same")
	}
}
