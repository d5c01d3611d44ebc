package harness

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// Play is a stub without a run, for somebody who tries a server by hand: it answers by the rules of a file, on a port of
// loopback, until ctx ends. A port of 0 is a free one. ready is told where it listens. The error is [scenario.Problems]
// when the file has mistakes.
func Play(ctx context.Context, kind, file string, port uint16, ready func(url string)) error {
	data, err := regular.Read(file)
	if err != nil {
		return &UsageError{What: err.Error(), Fix: "name a file with rules: docs/stubs.md shows some"}
	}
	rules, problems := scenario.ParseStubRules(file, data)
	p := &Project{Stubs: []Stub{{Name: kind, Kind: stub.Kind(kind)}}}
	problems = append(problems, p.checkRules(&scenario.Scenario{File: file}, &scenario.Stub{Name: kind, Rules: rules})...)
	if len(problems) > 0 {
		return problems.Sort()
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return fmt.Errorf("stub %s: %w", kind, err)
	}
	s := stub.Serve(l, kind, stub.Kind(kind), stub.Options{})
	defer s.Close()
	defer run.Play(s, kind, rules)()
	ready(s.URL())
	<-ctx.Done()
	return nil
}
