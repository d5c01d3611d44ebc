package compare

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Two bodies that say the same need not be equally long: where one server is at session 9, the other is at 10. Their
// lengths then say nothing that the bodies have not said. They do say whether the same was written with other blanks and
// escapes, and that is told of.

// lengthExplained reports whether the Content-Lengths of two answers whose bodies are alike differ, and by no more than the
// texts in these do. Only what stands in a length of its own body's is explained so, not that of an answer to HEAD.
func (c *comparison) lengthExplained(ref, cand *transcript.Response) bool {
	if ref.Body.Size == cand.Body.Size || !countsItself(ref) || !countsItself(cand) {
		return false
	}
	r, ok := c.aroundTexts(bodyContent(ref))
	o, okay := c.aroundTexts(bodyContent(cand))
	return ok && okay && r == o
}

// countsItself reports whether an answer's Content-Length is that of the body that came.
func countsItself(r *transcript.Response) bool {
	given := r.Header.Values("Content-Length")
	return len(given) == 1 && given[0] == strconv.FormatInt(r.Body.Size, 10) && r.Body.Whole()
}

// aroundTexts returns how many bytes of a content are none of its texts: punctuation, blanks, numbers, and escapes that need
// not be. It is not ok of what is no document.
func (c *comparison) aroundTexts(body content) (int, bool) {
	if body.otherwise != "" || body.entries != nil {
		return 0, true // all of it is one text, or compressed
	}
	root, _, err := body.read(c.docs)
	if err != nil {
		return 0, false
	}
	return len(body.data) - inTexts(root), true
}

// inTexts returns how long the texts of a document are at least when they are written as JSON, names of members among them.
func inTexts(n *jsontree.Node) int {
	sum := 0
	if n.Kind == jsontree.String {
		sum = len(n.String())
	}
	for _, name := range n.Names {
		sum += len((&jsontree.Node{Kind: jsontree.String, Text: name}).String())
	}
	for _, item := range n.Items {
		sum += inTexts(item)
	}
	return sum
}

// isLength reports whether a header field is Content-Length.
func isLength(name string) bool { return strings.EqualFold(name, "Content-Length") }
