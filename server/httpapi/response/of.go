package response

import (
	"net/http"
	"sync"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Of is the JSON of a T, which is a type of the contract. It must be written at most once.
type Of[T any] struct {
	text   jsonwire.Text
	pooled *[]byte // the pooled buffer that has the text, or nil
}

// Value returns the JSON of a value.
func Value[T any](v T) Of[T] { return Of[T]{text: jsonwire.Marshal(v)} }

// Shared returns the JSON of a T that other responses may have, too.
func Shared[T any](text jsonwire.Text) Of[T] { return Of[T]{text: text} }

// Encoded returns the JSON that a function writes, which must be the JSON of a T, and the function's error. It is for
// values that the server keeps in another type, or as JSON.
func Encoded[T any](write func(w *jsonwire.Writer) error) (Of[T], error) {
	buffer := buffers.Get().(*[]byte)
	w := jsonwire.NewWriter((*buffer)[:0])
	err := write(w)
	*buffer = w.Text()
	encoded := Of[T]{*buffer, buffer}
	if err != nil {
		encoded.release()
		return Of[T]{}, err
	}
	return encoded, nil
}

// Write writes the response.
func (o Of[T]) Write(w http.ResponseWriter, status int) error {
	defer o.release()
	return JSON{Status: status, Body: o.text}.Write(w)
}

// buffers are reused for responses that are frequent and not small.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooled is the maximum size in bytes of a buffer that is reused.
const maxPooled = 1 << 20

func (o Of[T]) release() {
	if o.pooled != nil && cap(*o.pooled) <= maxPooled {
		buffers.Put(o.pooled)
	}
}
