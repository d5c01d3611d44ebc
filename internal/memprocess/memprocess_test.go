package memprocess

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// output reads what a program writes until its end: "1 text" of standard output, "2 text" of standard error.
func output(p *Process) (out string) {
	for {
		stderr, data, ok := p.Read()
		switch {
		case !ok:
			return out
		case stderr:
			out += "2 "
		default:
			out += "1 "
		}
		out += string(data)
	}
}

func TestAProgramReadsWritesAndExits(t *testing.T) {
	p := Start(func(s *System) int {
		line, err := bufio.NewReader(s.In).ReadString('\n')
		fmt.Fprintf(s.Err, "%v\n", err)
		fmt.Fprintf(s.Out, "%s %s %v %s\n", line[:1], s.Getenv("A"), s.Args, s.Dir)
		return 3
	}, []string{"x"}, map[string]string{"A": "b"}, "/d")
	if err := p.Write(t.Context(), []byte("a\n")); err != nil {
		t.Fatal(err)
	}
	if got := output(p); got != "2 <nil>\n1 a b [x] /d\n" {
		t.Errorf("it wrote %q", got)
	}
	if status, signal := p.Exit(); status != 3 || signal != "" {
		t.Errorf("it ended with %d %s", status, signal)
	}
	for name, err := range map[string]error{"Write": p.Write(t.Context(), []byte("b")), "CloseInput": p.CloseInput(), "Signal": p.Signal("SIGTERM")} {
		if !errors.Is(err, errExited) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
}

func TestAProgramThatIgnoresSignalsIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Start(func(s *System) int {
			s.Catch("SIGTERM")
			close(s.Out.(writer).p.dropped) // nobody reads
			<-s.Gone
			if _, err := s.Out.Write([]byte("x")); !errors.Is(err, errKilled) {
				t.Errorf("a write after the end: %v", err)
			}
			return 0
		}, nil, nil, "")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Write(ctx, make([]byte, pipeSize+1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a write to a program that does not read: %v", err)
		}
		start := time.Now()
		if err := p.Stop(t.Context()); err != nil || time.Since(start) != stopGrace {
			t.Errorf("Stop: %v after %s", err, time.Since(start))
		}
		if _, signal := p.Exit(); signal != "SIGKILL" {
			t.Errorf("it ended with %s", signal)
		}
	})
}
