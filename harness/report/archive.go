package report

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/archive"
)

// contentOf returns the body of an answer as places are about it: of an archive, the document that it holds.
func contentOf(r *transcript.Response) []byte {
	if doc := archiveOf(r); doc != nil {
		return doc.JSON
	}
	return r.Body.Bytes
}

// entriesOf is shown in the place of an archive's bytes; "" where there is no archive.
func entriesOf(r *transcript.Response) string {
	doc := archiveOf(r)
	if doc == nil {
		return ""
	}
	return fmt.Sprintf("‹ZIP archive of %d bytes›\n%s\n", r.Body.Size, strings.Join(doc.Names, "\n"))
}

// archiveOf reads an archive; nil when the answer is none that can be read.
func archiveOf(r *transcript.Response) *archive.Document {
	if value, _ := r.Header.Get("Content-Type"); !archive.Is(value) {
		return nil
	}
	doc, err := archive.Read(r.Body.Bytes)
	if err != nil {
		return nil
	}
	return doc
}
