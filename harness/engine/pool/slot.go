package pool

import (
	"fmt"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/target"
)

// A slot is the place of one target in a pool. It has the current server and those that ran before.
type slot struct {
	pool *Pool
	spec project.Target

	mu        sync.Mutex  // guards the fields below
	current   *instance   // nil until one has started
	err       error       // of the last start
	restarts  int         // how often an ended server may still be replaced
	ended     []*instance // servers before the current one
	dir       *target.Directory
	upstreams upstreams
}

func (s *slot) startFirst() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start()
}

// ready returns the running server. If it has ended, ready first replaces it, as often as the slot may.
func (s *slot) ready() (*run.Target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.current.hasEnded() && s.pool.ctx.Err() == nil && s.restarts > 0 {
		s.restarts--
		s.pool.opts.Log.Warn("target has ended and is started again",
			"target", s.spec.Spec.Name, "status", s.current.ExitStatus(), "starts_left", s.restarts)
		s.current.end() // stops also what it has started
		s.start()
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.current.target, nil
}

func (s *slot) start() {
	if s.err = s.prepare(); s.err != nil {
		return
	}
	started, err := startInstance(s.pool, s.spec, s.dir, s.upstreams)
	if s.err = err; err != nil {
		return
	}
	if s.current != nil {
		s.ended = append(s.ended, s.current)
	}
	s.current = started
}

// prepare creates what all servers of the slot share: their upstreams, and their directory if they have one.
func (s *slot) prepare() (err error) {
	if s.dir == nil && s.spec.Spec.URL == "" && (s.pool.opts.Directories || s.spec.Spec.UsesDirectory()) {
		if s.dir, err = target.NewDirectory(""); err != nil {
			return fmt.Errorf("start target %q: directory: %w", s.spec.Spec.Name, err)
		}
	}
	if s.upstreams == nil {
		s.upstreams, err = startUpstreams(s.spec.Spec.Name, s.dir.Path(), &s.pool.opts)
	}
	return err
}

// stop stops all servers of the slot, their upstreams and their directory, and waits until nothing of them is left.
func (s *slot) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, server := range append(s.ended, s.current) {
		if server != nil {
			server.target.Client.Close()
			server.end()
		}
	}
	s.upstreams.close()
	if err := s.dir.Remove(); err != nil {
		s.pool.opts.Log.Warn("remove directory", "target", s.spec.Spec.Name, "err", err)
	}
}
