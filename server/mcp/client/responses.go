package client

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// checked decides what the library sees of an answer over streamable HTTP. For most statuses, other content types and
// broken bodies, the library would end the connection. checked replaces such an answer by one that fails only its own
// request. An answer that is complete but not JSON-RPC, or too large, does end the connection (decision X12). Until
// the protocol version is agreed on, errors are only recorded.
func (r *HTTP) checked(request *http.Request, response *http.Response) *http.Response {
	isCall := expectsAnswer(request.Context())
	fits := response.StatusCode/100 == 2 && (!isCall || isStream(response) || isJSON(response))
	switch {
	case !r.isAgreed():
		if !fits && response.StatusCode/100 == 2 {
			r.note(mcperror.NotMCP)
		}
		return response
	case !fits:
		return unavailable(request, response)
	case isCall && isJSON(response):
		return whole(request, response)
	}
	return response
}

func (r *HTTP) isAgreed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version != ""
}

func isJSON(response *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind == "application/json"
}

// whole reads an answer to its end.
func whole(request *http.Request, response *http.Response) *http.Response {
	text, err := io.ReadAll(response.Body)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); err != nil && !tooLarge {
		return unavailable(request, response)
	}
	response.Body.Close()
	response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), rest{err}))
	return response
}

// A rest is the end of a body that was read.
type rest struct{ err error }

func (r rest) Read([]byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return 0, io.EOF
}

// unavailable returns an answer for which the library fails only the request.
func unavailable(request *http.Request, response *http.Response) *http.Response {
	response.Body.Close()
	return &http.Response{
		Status: "503 Service Unavailable", StatusCode: http.StatusServiceUnavailable,
		Proto: response.Proto, ProtoMajor: response.ProtoMajor, ProtoMinor: response.ProtoMinor,
		Header: http.Header{}, Body: http.NoBody, Request: request,
	}
}
