package target

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestALineIsShownSafely(t *testing.T) {
	for _, row := range []struct {
		line Line
		want string
	}{
		{Line{Stdout, "listening on :80", false}, "stdout: listening on :80"},
		{Line{Stderr, "größer — 大\tπ", false}, "stderr: größer — 大\tπ"},
		{Line{Stderr, "\x1b[31mred\x1b[0m\a", false}, `stderr: \x1b[31mred\x1b[0m\a`},
		{Line{Stdout, "end of a CRLF line\r", false}, "stdout: end of a CRLF line"},
		{Line{Stdout, "10%\r20%\r", false}, `stdout: 10%\r20%`},
		{Line{Stdout, "bad \xff\xc3 good \uFFFD", false}, `stdout: bad \xff\xc3 good ` + "\uFFFD"},
		{Line{Stdout, "right\u202eleft\u2028\u200b\x00", false}, `stdout: right\u202eleft\u2028\u200b\x00`},
		{Line{Harness, "cut here", true}, "harness: cut here…"},
	} {
		if got := row.line.String(); got != row.want {
			t.Errorf("%#v is shown as %q, want %q", row.line, got, row.want)
		}
	}
}

func TestALogTailKeepsTheLastLinesHoweverTheyArrive(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		max := 1 + random.IntN(6)
		var written []byte
		for range random.IntN(40) {
			written = append(written, strings.Repeat("ab\n\n", 3)[random.IntN(6):][:random.IntN(6)]...)
		}
		j := newLogTail(max)
		for rest := written; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			j.add(Stdout, rest[:n])
			rest = rest[n:]
		}
		want := strings.Split(string(written), "\n")
		begun := want[len(want)-1]
		want = want[:len(want)-1]
		want = want[len(want)-min(max, len(want)):]
		if begun != "" {
			want = append(want, begun)
		}
		var got []string
		for _, line := range j.last() {
			got = append(got, line.Text)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("of %q, %d lines kept: %q, want %q", written, max, got, want)
		}
	}
}

func TestALogTailKeepsStreamsApartAndInOrder(t *testing.T) {
	j := newLogTail(10)
	j.add(Stdout, []byte("one "))
	j.add(Stderr, []byte("two\nthree"))
	j.add(Stdout, []byte("line\nfour"))
	j.note("five")
	want := []Line{
		{Stderr, "two", false}, {Stdout, "one line", false}, {Harness, "five", false},
		{Stdout, "four", false}, {Stderr, "three", false},
	}
	if got := j.last(); !slices.Equal(got, want) {
		t.Errorf("last: %q, want %q", got, want)
	}
}

func TestALogTailCutsLongLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	j := newLogTail(10)
	for range 3 {
		j.add(Stderr, []byte(long))
	}
	j.add(Stderr, []byte("end\n"+long+"\nshort\n"))
	want := []Line{{Stderr, long, true}, {Stderr, long, false}, {Stderr, "short", false}}
	if got := j.last(); !slices.Equal(got, want) {
		t.Errorf("last: %d lines, want a cut one, a whole one and a short one", len(got))
	}
}

func TestALogTailStopsAllocating(t *testing.T) {
	for name, chunk := range floods() {
		j := newLogTail(200)
		for range 400 { // so that every buffer has held every line
			j.add(Stdout, chunk)
		}
		if n := testing.AllocsPerRun(50, func() { j.add(Stdout, chunk) }); n != 0 {
			t.Errorf("%s: %v allocations per chunk, want none", name, n)
		}
	}
}

func BenchmarkLogTail(b *testing.B) {
	for name, chunk := range floods() {
		b.Run(name, func(b *testing.B) {
			j := newLogTail(200)
			b.SetBytes(int64(len(chunk)))
			for b.Loop() {
				j.add(Stdout, chunk)
			}
		})
	}
}

// floods are chunks as a pipe delivers them.
func floods() map[string][]byte {
	var numbered bytes.Buffer
	for i := 0; numbered.Len() < 64<<10; i++ {
		fmt.Fprintf(&numbered, "level=info msg=%q n=%d\n", "request served", i)
	}
	return map[string][]byte{
		"lines":        numbered.Bytes()[:64<<10],
		"empty lines":  bytes.Repeat([]byte("\n"), 64<<10),
		"one line":     bytes.Repeat([]byte("y"), 64<<10),
		"single bytes": []byte("y"),
	}
}
