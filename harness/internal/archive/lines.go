package archive

import (
	"bytes"
	"mime"
	"slices"
	"strings"
)

// Lines returns the lines of a body as a list, if its content type says that each line is JSON, and each line is.
func Lines(contentType string, body []byte) (list []byte, ok bool) {
	if !strings.Contains(contentType, "json") { // fast for most types
		return nil, false
	}
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return nil, false
	case media == "application/json-seq" || strings.HasSuffix(media, "+json-seq"):
		body, ok = withoutMarks(body)
	default:
		ok = slices.Contains(lineTypes, media)
	}
	if !ok || !linesOfJSON(body) {
		return nil, false
	}
	var out bytes.Buffer
	writeLines(&out, body)
	return out.Bytes(), true
}

// lineTypes are content types of lines of JSON. None of them is registered, but all are common.
var lineTypes = []string{
	"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl", "application/jsonlines",
	"application/x-jsonlines",
}

// withoutMarks removes the record separators of a JSON text sequence (RFC 7464 §2.2).
func withoutMarks(body []byte) (lines []byte, ok bool) {
	const mark = '\x1e'
	for line := range bytes.Lines(body) {
		if line[0] != mark {
			return nil, false
		}
		lines = append(lines, line[1:]...)
	}
	return lines, true
}
