package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
)

// Serve serves on a listener until ctx ends, and then stops gracefully. It always closes the listener. It returns nil
// after a stop, or the error of the listener. Serve can be called once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	failed := make(chan error, 1)
	listener := conn.Listen(ln, s.config.WriteTimeout)
	go func() { failed <- s.http.Serve(listener) }()
	select {
	case err := <-failed:
		s.stop(context.WithoutCancel(ctx), listener)
		return fmt.Errorf("serve on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
		s.stop(context.WithoutCancel(ctx), listener)
		<-failed
		return nil
	}
}

// Close closes the files of a server that was never served.
func (s *Server) Close() error {
	s.registry.Shutdown()
	s.goose.hooks.Stop()
	return errors.Join(s.goose.close(), s.config.Telemetry.Shutdown(context.Background()))
}

// stop stops the server gracefully, in the order of decision S19, and cuts what has not ended after StopTimeout.
// After that, extensions get no more time to end, because their processes might outlive the server's.
func (s *Server) stop(ctx context.Context, ln *conn.Listener) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.StopTimeout, fmt.Errorf("not done after %s", s.config.StopTimeout))
	defer cancel()
	begun := time.Now()
	defer context.AfterFunc(ctx, s.goose.endGrace)()
	s.config.Log.Debug("server stopping")

	ln.Close() // (1) accept no more connections
	ln.CloseSilent()
	s.registry.Shutdown() // (2) executions fail, and so does what waits for a hook
	s.goose.hooks.Stop()
	s.goose.signIns.Stop() // no request waits for a user any more
	s.goose.fetches.Close()
	err := s.bus.Shutdown(ctx)
	if err == nil { // (3) and (4): the streams have ended
		err = s.http.Shutdown(ctx) // waits for answers that are still being written
	}
	if err != nil {
		s.config.Log.Warn("connections cut", "err", cmp.Or(context.Cause(ctx), err))
		s.http.Close()
	}
	flushed := s.flush(begun)
	if err := s.goose.close(); err != nil { // (5) close the database
		s.config.Log.Error("database not closed", "err", err)
	}
	<-flushed
	s.config.Log.Debug("server stopped")
}

// flushGrace is how long exports may last after StopTimeout (decision T12).
const flushGrace = 700 * time.Millisecond

// flush exports what telemetry has left, and closes the channel when that is done.
func (s *Server) flush(begun time.Time) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithDeadline(context.Background(), begun.Add(s.config.StopTimeout+flushGrace))
		defer cancel()
		if err := s.config.Telemetry.Shutdown(ctx); err != nil {
			s.config.Log.Debug("telemetry not flushed", "err", err)
		}
	}()
	return done
}
