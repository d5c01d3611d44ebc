package target

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Stream is where a line of the log comes from.
type Stream string

// The two streams of a target, and the harness, which adds a line when it did something to the target that nobody
// asked for.
const (
	Stdout  Stream = "stdout"
	Stderr  Stream = "stderr"
	Harness Stream = "harness"
)

// A Line is one line of a target's log.
type Line struct {
	Stream Stream
	// Text is what was written, byte for byte and without the line end. It is hostile: show it with String.
	Text string
	// Cut says that the line went on: only its first 4 KiB are kept.
	Cut bool
}

// String returns the line for showing: the stream, the text with control characters, invisible characters and bytes
// that are not UTF-8 escaped as in Go, and an ellipsis where it was cut.
func (l Line) String() string {
	var b strings.Builder
	b.WriteString(string(l.Stream))
	b.WriteString(": ")
	text := strings.TrimSuffix(l.Text, "\r") // of a CR LF
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i])|0x100, 16)[1:])
		case r == '\t' || strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	if l.Cut {
		b.WriteString("…")
	}
	return b.String()
}

// maxLine bounds how much of a line is kept. Together with the number of lines it bounds a journal.
const maxLine = 4 << 10

// A journal keeps the last lines of a target. What falls out of it is gone: it explains a failure, it is no record.
//
// It is built for a flood. Lines live in a ring of buffers that are used again, so that nothing is allocated in the
// long run, and of a chunk with more lines than the ring holds only the end is looked at.
type journal struct {
	max int

	mu    sync.Mutex
	lines []entry // grows to max, then a ring
	next  int     // the oldest entry, once the ring is full
	open  map[Stream]*entry
}

// An entry is a line in a buffer that outlives it.
type entry struct {
	stream Stream
	text   []byte
	cut    bool
}

func newJournal(max int) *journal {
	return &journal{max: max, open: map[Stream]*entry{
		Stdout:  {stream: Stdout},
		Stderr:  {stream: Stderr},
		Harness: {stream: Harness},
	}}
}

// add takes what a stream wrote next. It may begin and end in the middle of a line.
func (j *journal) add(stream Stream, chunk []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := j.open[stream]
	if rest, skipped := lastLines(chunk, j.max); skipped {
		line.reset()
		chunk = rest
	}
	for {
		text, rest, ended := bytes.Cut(chunk, newline)
		line.extend(text)
		if !ended {
			return
		}
		j.keep(line)
		chunk = rest
	}
}

// note adds a line of the harness.
func (j *journal) note(text string) {
	j.add(Harness, []byte(text+"\n"))
}

var newline = []byte("\n")

// lastLines returns the end of chunk that has max complete lines, and whether that leaves any complete line out.
func lastLines(chunk []byte, max int) (rest []byte, skipped bool) {
	if bytes.Count(chunk, newline) <= max {
		return chunk, false
	}
	end := len(chunk)
	for range max + 1 {
		end = bytes.LastIndexByte(chunk[:end], '\n')
	}
	return chunk[end+1:], true
}

// keep puts a complete line into the ring. The line gets the buffer of the one that falls out.
func (j *journal) keep(line *entry) {
	if len(j.lines) < j.max {
		j.lines = append(j.lines, *line)
		*line = entry{stream: line.stream}
		return
	}
	oldest := &j.lines[j.next]
	j.next = (j.next + 1) % j.max
	*oldest, *line = *line, entry{stream: line.stream, text: oldest.text[:0]}
}

// last returns the lines in the ring, oldest first, and then those that have begun.
func (j *journal) last() []Line {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := make([]Line, 0, len(j.lines)+2)
	for i := range j.lines {
		lines = append(lines, j.lines[(j.next+i)%len(j.lines)].line())
	}
	for _, stream := range []Stream{Stdout, Stderr} {
		if begun := j.open[stream]; len(begun.text) > 0 {
			lines = append(lines, begun.line())
		}
	}
	return lines
}

func (e *entry) extend(text []byte) {
	if room := maxLine - len(e.text); len(text) > room {
		text, e.cut = text[:room], true
	}
	e.text = append(e.text, text...)
}

func (e *entry) reset() {
	e.text, e.cut = e.text[:0], false
}

func (e *entry) line() Line {
	return Line{Stream: e.stream, Text: string(e.text), Cut: e.cut}
}
