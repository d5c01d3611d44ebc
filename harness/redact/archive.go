package redact

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/archive"
)

// archive replaces what is secret in the entries of an archive, and makes it anew where there is anything: compressed, a
// secret is not seen. It reports false when the answer has no archive that can be read.
func (r *Replacer) archive(answer *transcript.Response) bool {
	if !archive.Is(answer.Header.ContentType()) || !answer.Body.Whole() {
		return false
	}
	made, err := archive.Replace(answer.Body.Bytes, r.Text)
	if err != nil {
		return false
	}
	if made == nil {
		return true
	}
	was, is := strconv.FormatInt(answer.Body.Size, 10), strconv.Itoa(len(made))
	answer.Header = slices.Clone(answer.Header)
	for i, f := range answer.Header {
		if strings.EqualFold(f.Name, "Content-Length") && f.Value == was {
			answer.Header[i].Value = is
		}
	}
	answer.Body = transcript.Body{Bytes: made, Size: int64(len(made)), Sent: answer.Body.Sent}
	return true
}
