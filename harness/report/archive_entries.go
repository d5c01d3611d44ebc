package report

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// entriesOf is shown in the place of an archive's bytes; "" where there is no archive.
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
