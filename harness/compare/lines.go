package compare

import (
	"bytes"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A body of lines that are JSON (see archive.Lines) is compared as the list of what they hold.

func textContent(r *transcript.Response) content {
	return content{data: r.Body.Bytes, otherwise: "its content type is not JSON"}
}

// bodyContents returns what two bodies hold. Lines of JSON are compared with lines of JSON only: a client that reads the one
// cannot read a list.
func bodyContents(ref, cand *transcript.Response) [2]content {
	sides := [2]content{bodyContent(ref), bodyContent(cand)}
	if sides[0].lines != sides[1].lines {
		for side, r := range [2]*transcript.Response{ref, cand} {
			if sides[side].lines {
				sides[side] = textContent(r)
			}
		}
	}
	return sides
}

// lastLine compares whether the last of lines of JSON has a line feed: who reads line by line waits for it.
func (c *comparison) lastLine(sides [2]content, ref, cand *transcript.Response, report func(Difference)) {
	const end = "\n"
	r, o := bytes.HasSuffix(ref.Body.Bytes, []byte(end)), bytes.HasSuffix(cand.Body.Bytes, []byte(end))
	if sides[0].lines && r != o {
		report(Difference{
			Kind: BodyDiffers, Place: "body", At: both("body"), Reference: showEnd(r), Candidate: showEnd(o),
			Text: "the last line ends in a line feed on one side, and not on the other",
		})
	}
}

func showEnd(fed bool) string {
	if fed {
		return "a line feed at the end"
	}
	return "no line feed at the end"
}
