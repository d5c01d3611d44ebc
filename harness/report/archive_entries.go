package report

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// entriesOf returns what is shown instead of an archive's bytes, or "" for a body that is not an archive.
func entriesOf(r *transcript.Response) string {
	if !archive.Is(r.Header.ContentType()) {
		return ""
	}
	doc, err := archive.Read(r.Body.Bytes)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("‹ZIP archive of %d bytes›\n%s\n", r.Body.Size, strings.Join(doc.Names, "\n"))
}
