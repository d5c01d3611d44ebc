package stub

import (
	"errors"

	"github.com/lockstep-dev/lockstep/harness/stub/otlp"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// ReadExport reads what a request exports to a collector. ok is false for any other request.
func ReadExport(r *transcript.Request) (e *otlp.Export, ok bool, err error) {
	if r.Method != "POST" || !otlp.IsExport(path(r)) {
		return nil, false, nil
	}
	if coding, mistaken := r.Body.Opaque(r.Header, false); coding != "" || mistaken != "" {
		return nil, true, errors.New(coding + mistaken)
	}
	e, err = otlp.Read(path(r), r.Header.ContentType(), r.Body.Bytes)
	return e, true, err
}

// ExportAnswer is the response of a collector that accepts an export, or rejects it because of an error (OTLP, "OTLP/HTTP
// Response").
func ExportAnswer(r *transcript.Request, err error) *Answer {
	media := otlp.MediaType(r.Header.ContentType())
	a := &Answer{Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: media}}, Body: otlp.Success(media)}
	if err != nil {
		a.Status, a.Body = 400, otlp.Failure(media, err.Error())
	}
	return a
}

// collect responds to exports.
func collect(_ *Server, r *transcript.Request) *Answer {
	_, ok, err := ReadExport(r)
	if !ok {
		return nil
	}
	return ExportAnswer(r, err)
}
