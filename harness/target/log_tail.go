package target

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Stream says where a line of the log comes from.
type Stream string

// The two output streams of a target, and the harness. The harness adds a line when it has done something to the target
// that the user did not ask for.
const (
	Stdout  Stream = "stdout"
	Stderr  Stream = "stderr"
	Harness Stream = "harness"
)

// A Line is one line of a target's log.
type Line struct {
	Stream Stream
	// Text is what was written, byte for byte and without the line end. It is not safe to print: use String.
	Text string
	// Cut means that the line was longer: only its first 4 KiB are kept.
	Cut bool
}

// String returns the line for printing: the stream, and the text. Control characters, invisible characters and bytes
// that are not UTF-8 are escaped as in Go. An ellipsis ends a line that was cut.
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

// maxLine limits how much of a line is kept. Together with the number of lines, it limits the size of a logTail.
const maxLine = 4 << 10

// A logTail keeps the last lines of a target's log.
//
// It is built for fast writers. The lines are a ring of buffers that are used again, so it soon stops allocating. If a
// chunk has more lines than the ring holds, only its end is read.
type logTail struct {
	max int

	mu    sync.Mutex
	lines []entry // grows to max, then a ring
	next  int     // index of the oldest entry, once the ring is full
	open  map[Stream]*entry
}

// An entry is a line in a buffer that later lines reuse.
type entry struct {
	stream Stream
	text   []byte
	cut    bool
}

func newLogTail(max int) *logTail {
	return &logTail{max: max, open: map[Stream]*entry{
		Stdout:  {stream: Stdout},
		Stderr:  {stream: Stderr},
		Harness: {stream: Harness},
	}}
}

// add adds what a stream wrote next. A chunk may begin and end in the middle of a line. It is copied.
func (l *logTail) add(stream Stream, chunk []byte) (used bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.open[stream]
	if rest, skipped := lastLines(chunk, l.max); skipped {
		line.reset()
		chunk = rest
	}
	for {
		text, rest, ended := bytes.Cut(chunk, newline)
		line.extend(text)
		if !ended {
			return false
		}
		l.keep(line)
		chunk = rest
	}
}

// note adds a line of the harness.
func (l *logTail) note(text string) {
	l.add(Harness, []byte(text+"\n"))
}

var newline = []byte("\n")

// lastLines returns the end of chunk with at most max complete lines, and whether complete lines are left out.
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

// keep puts a complete line into the ring. The next line gets the buffer of the line that drops out.
func (l *logTail) keep(line *entry) {
	if len(l.lines) < l.max {
		l.lines = append(l.lines, *line)
		*line = entry{stream: line.stream}
		return
	}
	oldest := &l.lines[l.next]
	l.next = (l.next + 1) % l.max
	*oldest, *line = *line, entry{stream: line.stream, text: oldest.text[:0]}
}

// last returns the lines in the ring, oldest first, and then the incomplete ones.
func (l *logTail) last() []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := make([]Line, 0, len(l.lines)+2)
	for i := range l.lines {
		lines = append(lines, l.lines[(l.next+i)%len(l.lines)].line())
	}
	for _, stream := range []Stream{Stdout, Stderr} {
		if begun := l.open[stream]; len(begun.text) > 0 {
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
