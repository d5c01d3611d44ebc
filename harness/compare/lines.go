package compare

import (
	"bytes"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A body that consists of lines of JSON (see archive.Lines) is compared as a list of their values.

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

// lastLine compares whether the last line of JSON ends in a line feed. A client that reads line by line waits for it.
func (c *comparison) lastLine(sides [2]jsondiff.Content, ref, cand *transcript.Response, report func(diff.Difference)) {
	const end = "\n"
	r, o := bytes.HasSuffix(ref.Body.Bytes, []byte(end)), bytes.HasSuffix(cand.Body.Bytes, []byte(end))
	if sides[0].Lines && r != o {
		report(diff.Difference{
			Reason: diff.Because(diff.BodyDiffers, diff.LastLineFeed), At: diff.At{Part: "body"}, Ref: diff.Show(showEnd(r)), Cand: diff.Show(showEnd(o)),
		})
	}
}

func showEnd(fed bool) string {
	if fed {
		return "a line feed at the end"
	}
	return "no line feed at the end"
}
