package engine

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// ServeStub runs a stub without a run, to try a server by hand. Until ctx ends, it responds by the rules of a file, on
// a loopback port. With port 0 it takes a free one. It calls ready with the URL. The error is [scenario.Problems] when
// the file has mistakes.
func ServeStub(ctx context.Context, kind, file string, port uint16, ready func(url string)) error {
	rules, err := stubRules(kind, file)
	if err != nil {
		return err
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

// stubRules reads the rules of a file. Without a file there are none.
func stubRules(kind, file string) ([]scenario.StubRule, error) {
	if file == "" {
		return nil, nil
	}
	data, err := regular.Read(file)
	if err != nil {
		return nil, &project.UsageError{What: err.Error(), Fix: "name a file with rules: docs/stubs.md has examples"}
	}
	rules, problems := scenario.ParseStubRules(file, data)
	problems = append(problems, project.CheckStubRules(file, stub.Kind(kind), &scenario.Stub{Name: kind, Rules: rules})...)
	if len(problems) > 0 {
		return nil, problems.Sort()
	}
	return rules, nil
}
