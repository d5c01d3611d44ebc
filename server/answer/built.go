package answer

import (
	"net/http"
	"sync"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// buffers are those that are used again, for answers that are asked for often and are not small.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxKept is how large a buffer may be to be used again.
const maxKept = 1 << 20

// built is a 200 with JSON in a buffer.
type built struct{ buffer *[]byte }

// Build returns a 200 with the JSON that a function writes. It must be written at most once. The error is that of the
// function.
func Build(write func(w *jsonwire.Writer) error) (Writer, error) {
	b := built{buffers.Get().(*[]byte)}
	w := jsonwire.NewWriter((*b.buffer)[:0])
	err := write(w)
	*b.buffer = w.Text()
	if err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// Write writes the answer.
func (b built) Write(w http.ResponseWriter) error {
	defer b.release()
	return JSON{Status: http.StatusOK, Body: *b.buffer}.Write(w)
}

func (b built) release() {
	if cap(*b.buffer) <= maxKept {
		buffers.Put(b.buffer)
	}
}
