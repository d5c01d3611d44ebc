package faux

import (
	"bytes"
	"compress/gzip"
)

// codingFaults are in the content coding of an answer. No request asks for one.
var codingFaults = []*Fault{
	{
		ID: "unasked-coding", Doc: "it compresses what nobody asked it to compress", In: "items/story",
		Says:   []Finding{unaskedGzip},
		answer: Coding("gzip", Gzipped).answer,
	},
	{
		ID: "no-coding", Doc: "it says that a plain body is compressed", In: "items/story",
		Says: []Finding{
			unaskedGzip,
			{shortfall, "content-coding", "3", "body", "gzip, as Content-Encoding says", "gzip: invalid header", candidate},
		},
		answer: Coding("gzip", func(body []byte) []byte { return body }).answer,
	},
}

var unaskedGzip = Finding{
	shortfall, "content-coding-unasked", "3", "header Content-Encoding",
	"none: the request has no Accept-Encoding; send one in the step if clients do", "gzip", candidate,
}

// Coding returns the fault of a server that names content codings in the answer about the lamp, and writes what encode makes of
// the body.
func Coding(codings string, encode func([]byte) []byte) *Fault {
	return &Fault{answer: about(read, func(a *answer) {
		a.text = encode((&Style{}).json(a.value))
		a.set("Content-Encoding", codings)
	})}
}

// Part returns the fault of a server that answers about the lamp with a part of the body (206) of another fault.
func Part(of *Fault) *Fault {
	return &Fault{answer: about(read, func(a *answer) {
		of.answer(a)
		a.status = 206
		a.text = a.text[:len(a.text)/2]
	})}
}

// Gzipped returns a body in the coding gzip.
func Gzipped(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body)
	_ = w.Close()
	return b.Bytes()
}
