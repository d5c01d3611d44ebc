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

// These bounds limit what a model may send (decision M38).
const (
	maxLine   = 4 << 20  // of a stream
	maxAnswer = 64 << 20 // in total, streamed or not
	maxError  = 64 << 10 // the part of an error's body that is read
)

var (
	errLongLine   = errors.New("a line of the stream is too long")
	errLongAnswer = errors.New("the answer is too long")
	errNotUTF8    = errors.New("the answer is not UTF-8")
)

// dataLines reads the data of a stream's events. It is not a complete event-stream parser, because both APIs write
// each event's data on one line, and include the event's type in it.
type dataLines struct {
	r    *bufio.Reader
	long []byte // a line that does not fit into r's buffer
	left int64
}

// newDataLines uses a small buffer, because most streams are waiting, and most lines are short.
func newDataLines(r io.Reader) *dataLines {
	return &dataLines{r: bufio.NewReaderSize(r, 4<<10), left: maxAnswer}
}

// next returns the data of the next event, which is valid until the next call. The error at the end of the stream is
// [io.EOF]. It ignores a final line without a line break, and lines without a blank after the colon (GA 18.8).
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

// parse parses the JSON of a model, which must be UTF-8 (decision M38). It rejects lone surrogates, because they
// could not be read again from the database (G1).
func parse(text []byte) (jsonwire.Text, error) {
	if !utf8.Valid(text) {
		return nil, errNotUTF8
	}
	parsed, err := jsonwire.Parse(text)
	if err == nil && bytes.Contains(parsed, []byte(`\ud`)) { // only for a lone surrogate, or after a backslash
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
