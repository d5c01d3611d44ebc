package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Bounds of what a model may send (decision M38).
const (
	maxLine   = 4 << 20  // of a stream
	maxAnswer = 64 << 20 // in all, streamed or not
	maxError  = 64 << 10 // what is read of the body of an error
)

var (
	errLongLine   = errors.New("a line of the stream is too long")
	errLongAnswer = errors.New("the answer is too long")
	errNotUTF8    = errors.New("the answer is not UTF-8")
)

// dataLines reads the data of the events of a stream. It is no full event-stream parser: both APIs write each event's
// data on one line, and name in it what the event is.
type dataLines struct {
	r    *bufio.Reader
	long []byte // a line that does not fit into r's buffer
	left int64
}

// newDataLines reads with a small buffer, because most streams wait, and most lines are short.
func newDataLines(r io.Reader) *dataLines {
	return &dataLines{r: bufio.NewReaderSize(r, 4<<10), left: maxAnswer}
}

// next returns the data of the next event, which is valid until the next call. The error is [io.EOF] at the end of the
// stream; a last line without a line break does not count, nor does one without a blank behind the colon (GA 18.8).
func (l *dataLines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			return data, nil
		}
	}
}

// line returns a line without its end.
func (l *dataLines) line() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if l.left -= int64(len(part)); l.left < 0 {
			return nil, errLongAnswer
		}
		if err == nil && len(l.long) == 0 {
			return trimEnd(part), nil
		}
		if len(l.long)+len(part) > maxLine {
			return nil, errLongLine
		}
		l.long = append(l.long, part...)
		if err == nil {
			return trimEnd(l.long), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// parse reads the JSON of a model, which is UTF-8 (decision M38). Half a surrogate pair is no JSON: it could not be read
// again once it is stored (G1).
func parse(text []byte) (jsonwire.Text, error) {
	if !utf8.Valid(text) {
		return nil, errNotUTF8
	}
	parsed, err := jsonwire.Parse(text)
	if err == nil && bytes.Contains(parsed, []byte(`\ud`)) { // as only half a pair, or a backslash, is written
		_, err = decode.Parse(parsed)
	}
	return parsed, err
}

// readAll reads a body up to a limit, and fails if there is more.
func readAll(body io.Reader, limit int64) ([]byte, error) {
	all, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err == nil && int64(len(all)) > limit {
		err = errLongAnswer
	}
	return all, err
}
