//go:build unix

package engine_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/busy"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/faux/chat"
)

// twinResults names the variable for the number of results that TestTwinsOverWires compares.
const twinResults = "LOCKSTEP_TWIN_RESULTS"

// TestTwinsOverWires runs correct servers, programs and drivers against correct ones that do what is free in another
// way, over real connections and as processes. Every finding is a false alarm. Each pair runs twice: the second time,
// four threads keep the machine busy.
func TestTwinsOverWires(t *testing.T) {
	wanted, err := strconv.Atoi(os.Getenv(twinResults))
	if err != nil {
		t.Skip("make test-twins-wires runs it")
	}
	pairs := twinsOverWires()
	results, alarms := map[bool]int{}, map[bool]int{}
	for n := 0; results[true]+results[false] < wanted; n++ {
		pair := pairs[n%len(pairs)]
		for _, isBusy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/busy=%t", pair.name, isBusy), func(t *testing.T) {
				if isBusy {
					defer busy.Threads(4)()
				}
				compared, wrong := pair.compare(t)
				results[isBusy] += compared
				alarms[isBusy] += wrong
				fmt.Printf("%s, busy %t: %d results, %d false alarms\n", pair.name, isBusy, compared, wrong)
			})
		}
	}
	fmt.Printf("%d results of scenarios over sockets and of processes, %d false alarms; beside four busy threads: %d results, %d false alarms\n",
		results[false]+results[true], alarms[false]+alarms[true], results[true], alarms[true])
}

// A twinPair is a run of two correct targets.
type twinPair struct {
	name string
	run  func(t *testing.T) *engine.Result
}

// compare runs a pair, and counts its results and those of them that are no match.
func (p *twinPair) compare(t *testing.T) (results, alarms int) {
	t.Helper()
	result := p.run(t)
	if result.Incomplete != "" {
		t.Errorf("the run is incomplete: %s", result.Incomplete)
	}
	for _, s := range result.Scenarios {
		switch compared := s.Compared.Exchanges + s.Compared.Sum(); {
		case s.Verdict != verdict.Match || len(s.Findings)+len(s.Reasons) > 0:
			alarms++
			t.Errorf("%s is %s: %v %v", s.ID, s.Verdict, s.Findings, s.Reasons)
		case compared == 0:
			t.Errorf("%s matches, but nothing was compared", s.ID)
			continue
		}
		results++
	}
	return results, alarms
}

// twinsOverWires returns the pairs: one of each wire in turn, in both roles.
func twinsOverWires() []twinPair {
	var sockets, programs, drivers []twinPair
	for _, style := range chat.Styles() {
		sockets = append(sockets, bothRoles("socket "+style.ID, &chat.Server{}, &chat.Server{Style: style}, func(t *testing.T, right, wrong *chat.Server) *engine.Result {
			return chatOverSockets(t, fauxproject.Chat(t), &chat.Server{Style: right.Style}, &chat.Server{Style: wrong.Style})
		})...)
	}
	for _, h := range faux.Habits() {
		plain := "tool"
		if h.Both {
			plain = "tool " + h.ID
		}
		programs = append(programs, bothRoles("program "+h.ID, plain, "tool "+h.ID, func(t *testing.T, right, wrong string) *engine.Result {
			return runPrograms(t, toolConfig, faux.WriteTooling, [2]string{right, wrong}, "")
		})...)
	}
	for _, w := range faux.AllWays() {
		drivers = append(drivers, bothRoles("driver "+w.ID, "driver", "driver "+w.ID, func(t *testing.T, right, wrong string) *engine.Result {
			return runPrograms(t, driverConfig, faux.WriteCalling, [2]string{right, wrong}, "")
		})...)
	}
	var pairs []twinPair
	for i := range sockets { // the longest list
		pairs = append(pairs, sockets[i], programs[i%len(programs)], drivers[i%len(drivers)])
	}
	return pairs
}

// bothRoles returns two pairs: the second has the targets in the other roles.
func bothRoles[T any](name string, one, other T, run func(t *testing.T, right, wrong T) *engine.Result) []twinPair {
	return []twinPair{
		{name, func(t *testing.T) *engine.Result { return run(t, one, other) }},
		{name + " as the reference", func(t *testing.T) *engine.Result { return run(t, other, one) }},
	}
}
