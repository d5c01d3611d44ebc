package pool

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
)

// upstreams are the stubs of one target, by name.
type upstreams map[string]*stub.Server

// startUpstreams starts the stubs of a target. dir is its directory, if it has one.
func startUpstreams(target, dir string, opts *Options) (upstreams, error) {
	out := upstreams{}
	for _, s := range opts.Stubs {
		started, err := stub.Start(s.Name, s.Kind, stub.Options{MaxBody: opts.MaxBody, Models: s.Models, Program: opts.Program, Dir: dir, Env: s.Env})
		if err != nil {
			out.close()
			return nil, fmt.Errorf("start stub %q of target %q: %w", s.Name, target, err)
		}
		out[s.Name] = started
	}
	return out, nil
}

// values returns the names that commands may use: the lockstep program, the addresses of the stubs, and the secrets.
func (u upstreams) values(program string, others map[string]string) map[string]string {
	out := map[string]string{project.ProgramName: program}
	for name, value := range others {
		if strings.HasPrefix(name, project.EnvPrefix) {
			out[name] = value
		}
	}
	for name, s := range u {
		out[scenario.StubPrefix+name] = s.URL()
	}
	return out
}

// forget drops the requests of a process that has failed to start.
func (u upstreams) forget() {
	for _, s := range u {
		s.Forget()
	}
}

func (u upstreams) close() {
	for _, s := range u {
		s.Close()
	}
}
