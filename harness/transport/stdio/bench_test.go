//go:build unix

package stdio

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// BenchmarkLines compares a Program with code that reads the same program by a bufio.Scanner. "fields" does the minimum
// of what a record needs: it keeps each line with its line end and its time. "split" only finds the lines, and keeps
// nothing.
func BenchmarkLines(b *testing.B) {
	const total = 8 << 20
	for _, size := range []int{100, 1000, 64 << 10} {
		lines := total / size
		file := filepath.Join(b.TempDir(), "lines")
		testfile.Write(b, file, strings.Repeat(strings.Repeat("x", size-1)+"\n", lines))
		script := fmt.Sprintf("read -r go; exec cat %q", file)
		program := ratio.Candidate{Name: "Program", Round: func() ratio.Cost { return recordLines(b, script, lines) }}
		for _, scanner := range []struct {
			name string
			read func(*bufio.Scanner) int
		}{{"fields", scanFields}, {"split", scanSplit}} {
			b.Run(fmt.Sprintf("%dB/%s", size, scanner.name), func(b *testing.B) {
				ratio.Report(b, lines, program, ratio.Candidate{Name: scanner.name, Round: func() ratio.Cost {
					return scanLines(b, script, lines, scanner.read)
				}})
			})
		}
	}
}

func recordLines(b *testing.B, script string, lines int) ratio.Cost {
	p := start(b, script, &watch.Options{MaxEvents: lines + 2}) // nothing may keep it: its lines would cost the next rounds
	defer p.Close()
	cost := ratio.Of(func() {
		if err := p.SendBytes(b.Context(), []byte("\n")); err != nil {
			b.Fatal(err)
		}
		if err := p.AwaitEnd(b.Context()); err != nil {
			b.Fatal(err)
		}
	})
	if n, _ := p.Count(func(*transcript.Event) bool { return true }); n != lines+2 {
		b.Fatalf("%d events, want %d", n, lines+2)
	}
	return cost
}

func scanLines(b *testing.B, script string, lines int, read func(*bufio.Scanner) int) ratio.Cost {
	cmd := exec.Command("/bin/sh", "-c", script)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	n := 0
	cost := ratio.Of(func() {
		io.WriteString(stdin, "\n")
		s := bufio.NewScanner(stdout)
		s.Buffer(make([]byte, 64<<10), defaultMaxEvent)
		n = read(s)
		err = cmd.Wait()
	})
	if err != nil || n != lines {
		b.Fatalf("%d lines, want %d: %v", n, lines, err)
	}
	return cost
}

func scanSplit(s *bufio.Scanner) (n int) {
	for s.Scan() {
		n++
	}
	return n
}

func scanFields(s *bufio.Scanner) int {
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) { // like bufio.ScanLines, but with the line end
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			return end + 1, data[:end+1], nil
		}
		if atEOF && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil
	})
	var kept []transcript.Event
	start := time.Now()
	for s.Scan() {
		line, isLine := bytes.CutSuffix(s.Bytes(), []byte("\n"))
		line, isCRLF := bytes.CutSuffix(line, []byte("\r"))
		ev := transcript.Event{Name: "message", Item: transcript.ItemLine, Data: string(line), At: time.Since(start)}
		switch {
		case isCRLF:
			ev.Framing = framingCRLF
		case isLine:
			ev.Framing = framingLF
		default:
			ev.Framing = framingEnd
		}
		kept = append(kept, ev)
	}
	return len(kept)
}
