package redact

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/archive"
)

// archive replaces what is secret in the entries of an archive, and makes it anew where there is anything: compressed, a
// secret is not seen. A body that is no archive that can be read stays as it is.
func (r *Replacer) archive(header *transcript.Header, body *transcript.Body) {
	if !archive.Is(header.ContentType()) || !body.Whole() {
		return
	}
	made, err := archive.Replace(body.Bytes, r.Text)
	if err != nil || made == nil {
		return
	}
	was, is := strconv.FormatInt(body.Size, 10), strconv.Itoa(len(made))
	*header = slices.Clone(*header)
	for i, f := range *header {
		if strings.EqualFold(f.Name, "Content-Length") && f.Value == was {
			(*header)[i].Value = is
		}
	}
	*body = transcript.Body{Bytes: made, Size: int64(len(made)), Sent: body.Sent}
}
