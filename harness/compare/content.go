package compare

import (
	"errors"
	"mime"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A body whose type is a ZIP archive is compared by its contents, as a document whose members are the entries: see
// harness/internal/archive. So a rule selects an entry by a JSONPath. The order of the entries is compared as well.
// Their times and the compression are not.

// archiveIn reads the archive in a response. It returns nil when the response does not declare an archive, or when its
// body is not completely known.
func archiveIn(r *transcript.Response) (*archive.Document, error) {
	if !archive.Is(r.Header.ContentType()) || r.Body.Undecoded(r.Header) || !r.Body.Whole() {
		return nil, nil
	}
	if w := r.Body.Withheld; w != nil {
		return &archive.Document{}, errors.New(w.Archive)
	}
	doc, err := archive.Read(r.Body.Bytes)
	if err != nil {
		return &archive.Document{}, err
	}
	return doc, nil
}

// brokenArchive returns what is wrong with the archive in a response; "" when nothing is. A response to HEAD has no
// body, so it is not checked.
func brokenArchive(x *transcript.Exchange) string {
	if !hasBody(x) || !succeeded(x) {
		return ""
	}
	if _, err := archiveIn(x.Response); err != nil {
		return err.Error()
	}
	return ""
}

func textContent(r *transcript.Response) jsondiff.Content {
	return jsondiff.Content{Data: r.Body.Bytes, NotJSON: "its content type is not JSON"}
}

// bodyContents returns the contents of two bodies. If only one consists of lines of JSON, its content is text, because
// a client that reads the other one cannot read it.
func bodyContents(ref, cand *transcript.Response) [2]jsondiff.Content {
	sides := [2]jsondiff.Content{bodyContent(ref), bodyContent(cand)}
	if sides[0].Lines != sides[1].Lines {
		for side, r := range [2]*transcript.Response{ref, cand} {
			if sides[side].Lines {
				sides[side] = textContent(r)
			}
		}
	}
	return sides
}

func bodyContent(r *transcript.Response) jsondiff.Content {
	if isJSON(r.Header) {
		return jsondiff.Content{Data: r.Body.Bytes}
	}
	if doc, err := archiveIn(r); doc != nil && err == nil {
		return jsondiff.Content{Data: doc.JSON, Entries: doc.Names}
	}
	if list, ok := archive.Lines(r.Header.ContentType(), r.Body.Bytes); ok {
		return jsondiff.Content{Data: list, Lines: true}
	}
	return textContent(r)
}

// isJSON reports whether a message declares its body as JSON.
func isJSON(h transcript.Header) bool {
	value, _ := h.Get("Content-Type")
	if value == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(value)
	return err == nil && isJSONType(media)
}

func requestContent(r *transcript.Request) jsondiff.Content { return bodyContent(asResponse(r)) }

// asResponse returns the header and the body of a request as a response.
func asResponse(r *transcript.Request) *transcript.Response {
	return &transcript.Response{Header: r.Header, Body: r.Body}
}
