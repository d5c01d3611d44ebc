package faux

import "strings"

// filler is text to send repeatedly.
var filler = strings.Repeat("lamp ", 13_000)

const giB = 1 << 30

// wireFaults break HTTP or the connection.
var wireFaults = []*Fault{
	{
		ID: "truncated-body", Doc: "it declares ten bytes more than it sends, and closes the connection", In: "items/story",
		Says:   []Finding{broken("3", "body", "the connection was closed after 221 of 231 bytes of the body")},
		answer: instead(read, func(w *wire, head, body []byte) { w.framed(head, len(body)+10, body) }),
	},
	{
		ID: "extra-bytes", Doc: "it sends more bytes than it has declared", In: "items/story",
		Says:   []Finding{broken("3", "body", `15 bytes follow the response: "HTTP/1.1 200 OK"`)},
		answer: instead(read, func(w *wire, head, body []byte) { w.framed(head, len(body), append(body, "HTTP/1.1 200 OK"...)) }),
	},
	{
		ID: "bytes-behind-204", Doc: "it sends a body where HTTP allows no body", In: "items/story",
		Says: []Finding{broken("6", "body", `4 bytes follow the response: "gone"`)},
		answer: func(a *answer) {
			if a.operation == "DELETE /items/{id}" && a.item == "chair" {
				a.write = func(w *wire, head, _ []byte) { w.put(head, []byte("\r\ngone")) }
			}
		},
	},
	{
		ID: "cut-chunk", Doc: "it closes the connection in the middle of a chunk", In: "items/story",
		Says: []Finding{broken("3", "body", "the connection was closed after 221 bytes of the body")},
		answer: instead(read, func(w *wire, head, body []byte) {
			w.put(head, []byte("Transfer-Encoding: chunked\r\n\r\nff0\r\n"), body)
		}),
	},
	{
		ID: "no-last-chunk", Doc: "it closes the connection before the last chunk", In: "items/story",
		Says: []Finding{broken("3", "body", "the connection was closed after 2 bytes of the body")},
		answer: instead(read, func(w *wire, head, _ []byte) {
			w.put(head, []byte("Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"))
		}),
	},
	{
		ID: "bad-chunk", Doc: "it writes a chunk's size in decimal with a unit", In: "items/story",
		Says: []Finding{broken("3", "body", `malformed size of a chunk, after 0 bytes of the body: "12 bytes\r"`)},
		answer: instead(read, func(w *wire, head, body []byte) {
			w.put(head, []byte("Transfer-Encoding: chunked\r\n\r\n12 bytes\r\n"), body)
		}),
	},
	{
		ID: "conflicting-lengths", Doc: "it declares two lengths", In: "items/story",
		Says:   []Finding{broken("3", "head", `malformed Content-Length: "1, 221"`)},
		answer: instead(read, func(w *wire, head, body []byte) { w.framed(append(head, "Content-Length: 1\r\n"...), len(body), body) }),
	},
	{
		ID: "length-and-chunks", Doc: "it declares a length and sends chunks", In: "items/story",
		Says: []Finding{broken("3", "head", `both Transfer-Encoding and Content-Length: "2"`)},
		answer: instead(read, func(w *wire, head, _ []byte) {
			w.put(head, []byte("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"))
		}),
	},
	{
		ID: "garbage", Doc: "it speaks another protocol", In: "items/story",
		Says:   []Finding{broken("3", "head", `not HTTP: "SSH-2.0-OpenSSH_9.6\r\n"`)},
		answer: instead(read, func(w *wire, _, _ []byte) { w.put([]byte("SSH-2.0-OpenSSH_9.6\r\n")) }),
	},
	{
		ID: "half-head", Doc: "it closes the connection in the middle of the head", In: "items/story",
		Says:   []Finding{broken("3", "head", `the connection was closed in the head, after "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nX-Shelf:…`)},
		answer: instead(read, func(w *wire, head, _ []byte) { w.put(head[:len(head)/2]) }),
	},
	{
		ID: "bad-field", Doc: "it sends a header line without a colon", In: "items/story",
		Says:   []Finding{broken("3", "head", `a field line without a colon: "no colon"`)},
		answer: instead(read, func(w *wire, head, body []byte) { w.framed(append(head, "no colon\r\n"...), len(body), body) }),
	},
	{
		ID: "closed-without-answer", Doc: "it closes the connection instead of answering", In: "items/story",
		Says:   []Finding{broken("3", "head", "the connection was closed before the head")},
		answer: instead(read, func(*wire, []byte, []byte) {}),
	},
	{
		ID: "reset-without-answer", Doc: "it resets the connection instead of answering", In: "items/story",
		Says:   []Finding{broken("3", "head", "the connection was reset before the head")},
		answer: instead(read, func(w *wire, _, _ []byte) { w.reset() }),
	},
	{
		ID: "reset-in-body", Doc: "it resets the connection in the middle of a body", In: "items/story",
		Says: []Finding{broken("3", "body", "the connection was reset after 110 of 221 bytes of the body")},
		answer: instead(read, func(w *wire, head, body []byte) {
			w.framed(head, len(body), body[:len(body)/2])
			w.reset()
		}),
	},
	{
		ID: "gigabyte", Doc: "it sends a body of 1 GiB", In: "items/story",
		Says: []Finding{broken("3", "body", "the body is larger than 1000000 bytes")},
		answer: instead(read, func(w *wire, head, _ []byte) {
			if w.framed(head, giB, nil) {
				w.flood([]byte(filler), giB)
			}
		}),
	},
	{
		ID: "endless-body", Doc: "it sends chunks without end", In: "items/story",
		Says: []Finding{broken("3", "body", "the body is larger than 1000000 bytes")},
		answer: instead(read, func(w *wire, head, _ []byte) {
			w.put(head, []byte("Transfer-Encoding: chunked\r\n\r\n"))
			w.flood(chunk(filler), 1<<40)
		}),
	},
	{
		ID: "endless-head", Doc: "it sends header fields without end", In: "items/story",
		Says: []Finding{broken("3", "head", "the head is larger than 1048576 bytes")},
		answer: instead(read, func(w *wire, head, _ []byte) {
			w.put(head)
			w.flood([]byte(strings.Repeat("X-Filler: lamp\r\n", 4_000)), 1<<40)
		}),
	},
	{
		ID: "hang-before-head", Doc: "it does not answer", In: "items/story", Clock: true,
		Says:   []Finding{broken("3", "head", "the step's 5s were over before the head")},
		answer: instead(read, func(w *wire, _, _ []byte) { w.hang() }),
	},
	{
		ID: "hang-in-head", Doc: "it stops in the middle of the head", In: "items/story", Clock: true,
		Says: []Finding{broken("3", "head", `the step's 5s were over in the head, after "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nX-Shelf: s…`)},
		answer: instead(read, func(w *wire, head, _ []byte) {
			w.put(head[:len(head)/2])
			w.hang()
		}),
	},
	{
		ID: "hang-in-body", Doc: "it stops in the middle of a body", In: "items/story", Clock: true,
		Says: []Finding{broken("3", "body", "the step's 5s were over after 110 of 221 bytes of the body")},
		answer: instead(read, func(w *wire, head, body []byte) {
			w.framed(head, len(body), body[:len(body)/2])
			w.hang()
		}),
	},
	{
		ID: "drip", Doc: "it sends a byte a second", In: "items/story", Clock: true,
		Says: []Finding{broken("3", "body", "the step's 5s were over after 6 of 221 bytes of the body")},
		answer: instead(read, func(w *wire, head, body []byte) {
			if w.framed(head, len(body), nil) {
				w.drip(body)
			}
		}),
	},
}
