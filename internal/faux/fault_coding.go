package faux

import (
	"bytes"
	"compress/gzip"
)

// codingFaults are wrong content codings. No request asks for a content coding.
var codingFaults = []*Fault{
	{
		ID: "unasked-coding", Doc: "it compresses a body although the request does not accept that", In: "items/story",
		Says:   []Finding{unaskedGzip},
		answer: Coding("gzip", Gzipped).answer,
	},
	{
		ID: "no-coding", Doc: "it declares a plain body as compressed", In: "items/story",
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

// Coding returns the fault of a server whose answer about the lamp names the content codings, with a body made by
// encode.
func Coding(codings string, encode func([]byte) []byte) *Fault {
	return &Fault{answer: about(read, func(a *answer) {
		a.text = encode((&Style{}).JSON(a.value))
		a.set("Content-Encoding", codings)
	})}
}

// Part returns another fault, changed so that the answer about the lamp is partial (206) and contains half of the
// body.
func Part(of *Fault) *Fault {
	return &Fault{answer: about(read, func(a *answer) {
		of.answer(a)
		a.status = 206
		a.text = a.text[:len(a.text)/2]
	})}
}

// Gzipped compresses a body with gzip.
func Gzipped(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body)
	_ = w.Close()
	return b.Bytes()
}
