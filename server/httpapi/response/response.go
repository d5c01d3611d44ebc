// Package response writes complete responses, whose length is known before the first byte.
package response

import (
	"io"
	"net/http"
	"strconv"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Writer writes one answer. Its errors are errors of the connection.
type Writer interface {
	Write(w http.ResponseWriter) error
}

// JSON is an answer with a JSON body (CT 3.1), without a charset or a final line break.
type JSON struct {
	Status int
	Body   jsonwire.Text
}

func (a JSON) Write(w http.ResponseWriter) error {
	Head(w, a.Status, "application/json", len(a.Body))
	_, err := w.Write(a.Body)
	return err
}

// Empty is an answer without a body (decision S2).
type Empty struct{ Status int }

func (a Empty) Write(w http.ResponseWriter) error {
	Head(w, a.Status, "", 0)
	return nil
}

// Head writes the head of an answer. An empty contentType means no Content-Type.
func Head(w http.ResponseWriter, status int, contentType string, length int) {
	if contentType != "" {
		w.Header().Set("Content-Type", contentType)
	}
	if status != http.StatusNoContent { // 204 must not have one (RFC 9110 §8.6)
		w.Header().Set("Content-Length", strconv.Itoa(length))
	}
	w.WriteHeader(status)
}

// Text is an answer with a plain-text body (GA 2.7, family C), or without a body if the text is empty.
type Text struct {
	Status int
	Body   string
}

func (a Text) Write(w http.ResponseWriter) error {
	if a.Body == "" {
		return Empty{a.Status}.Write(w)
	}
	text := excerpt.Message(a.Body)
	Head(w, a.Status, "text/plain; charset=utf-8", len(text))
	_, err := io.WriteString(w, text)
	return err
}

// Message returns an error message in JSON (GA 2.7, family A).
func Message(text string) Of[api.ErrorResponse] {
	return Value(api.ErrorResponse{Message: excerpt.Message(text)})
}

// A Stream is a response that writes itself. It returns no error, because its status is sent before one can occur.
type Stream func(w http.ResponseWriter)

func (s Stream) Write(w http.ResponseWriter) error {
	s(w)
	return nil
}
