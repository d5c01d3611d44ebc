package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A rule of the kind id can be made to fit nearly everything that is seen a few times. So it is only tried where there is a
// sign that the value is an id: a number that stands for a thing in several places, or is counted; a text of one word that
// is made up.

// oneWord is what ids are written in.
var oneWord = regexp.MustCompile(`^[\w.:~+/=-]+$`)

// wordy reports whether all values of a suspect are texts that could be ids: of one word, and with a digit, or else such
// that neither side has one of the other's, and none comes again.
func (it *suspect) wordy() bool {
	var sides [2]map[string]bool
	digits := true
	for side := range sides {
		sides[side] = map[string]bool{}
	}
	for _, f := range it.findings {
		for side, quoted := range [2]string{f.Reference, f.Candidate} {
			text, err := strconv.Unquote(quoted)
			if err != nil {
				text = quoted
			}
			if !oneWord.MatchString(text) {
				return false
			}
			digits = digits && strings.ContainsAny(text, "0123456789")
			sides[side][text] = true
		}
	}
	for text := range sides[0] {
		if !digits && sides[1][text] {
			return false
		}
	}
	return digits || len(sides[0]) > 1
}

// whole reports whether all values of a suspect are integers.
func (it *suspect) whole() bool {
	for _, f := range it.findings {
		for _, text := range [2]string{f.Reference, f.Candidate} {
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				return false
			}
		}
	}
	return true
}

// identifies reports whether there is a sign that the integers of a suspect are ids.
func (s *survey) identifies(it *suspect) bool {
	return it.whole() && (it.recurs || s.elsewhere(it) || s.counted(it))
}

// elsewhere reports whether all values of a suspect stand under other names, too, or in a path that was asked for.
func (s *survey) elsewhere(it *suspect) bool {
	for i, f := range it.findings {
		for side, value := range [2]string{f.Reference, f.Candidate} {
			if len(value) < 2 || !standsIn(it.cases[i].Transcripts[side], value, it.key) {
				return false
			}
		}
	}
	return true
}

// standsIn reports whether a value stands in a transcript under another name than one.
func standsIn(t *transcript.Transcript, value, not string) bool {
	found := false
	for _, d := range documentsOf(t) {
		found = found || slices.Contains(strings.Split(d.target, "/"), value)
		root, _, err := jsontree.Parse(d.data)
		if err != nil {
			continue
		}
		eachValue(root, "$", func(path, text string) {
			found = found || text == value && !strings.HasSuffix(path, not)
		})
	}
	return found
}

// eachValue calls f with every text and number, and where it stands.
func eachValue(n *jsontree.Node, path string, f func(path, text string)) {
	n.Open()
	switch n.Kind {
	case jsontree.Object:
		for i, item := range n.Items {
			eachValue(item, path+pathStep(n.Names[i]), f)
		}
	case jsontree.Array:
		for _, item := range n.Items {
			eachValue(item, path+"[*]", f)
		}
	case jsontree.String, jsontree.Number:
		f(path, n.Text)
	}
}

// A document is what a target answered, and when.
type document struct {
	data   []byte
	target string
	at     time.Time
}

func documentsOf(t *transcript.Transcript) []document {
	var out []document
	for i := range t.Steps {
		for _, x := range t.Steps[i].Exchanges {
			if x.Response != nil {
				target, _, _ := strings.Cut(x.Request.Target, "?")
				out = append(out, document{x.Response.Body.Bytes, target, t.Started.Add(x.Done)})
			}
		}
	}
	return out
}

// leastCounted is how many steps from one number to the next there must be before their growing says something.
const leastCounted = 8

// counted reports whether the numbers of a suspect grow as time goes by. Scenarios run side by side, and one in four may
// come a little late.
func (s *survey) counted(it *suspect) bool {
	path, err := jsonpath.Parse(it.paths[0])
	if err != nil {
		return false
	}
	runs := map[[2]int][]numberSeen{} // by run and side
	for i, c := range s.cases {
		for side, t := range c.Transcripts {
			for _, d := range documentsOf(t) {
				for _, value := range integersAt(path, d.data) {
					key := [2]int{s.runs[i], side}
					runs[key] = append(runs[key], numberSeen{value, d.at})
				}
			}
		}
	}
	grown, steps := 0, 0
	for _, numbers := range runs {
		slices.SortStableFunc(numbers, func(a, b numberSeen) int { return a.at.Compare(b.at) })
		for i := range numbers[min(1, len(numbers)):] {
			steps++
			if numbers[i+1].value > numbers[i].value {
				grown++
			}
		}
	}
	return steps >= leastCounted && 4*grown >= 3*steps
}

type numberSeen struct {
	value int64
	at    time.Time
}

// parted says in what two texts differ, in words.
func parted(ref, cand string) string {
	a, b := strings.Fields(strings.Trim(ref, `"`)), strings.Fields(strings.Trim(cand, `"`))
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return fmt.Sprintf("%q and %q", strings.Join(a, " "), strings.Join(b, " "))
}

// integersAt returns the integers at a path of a document.
func integersAt(path *jsonpath.Path, data []byte) []int64 {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var root any
	if decoder.Decode(&root) != nil {
		return nil
	}
	var out []int64
	for _, value := range path.Select(root) {
		if n, ok := value.(json.Number); ok {
			if i, err := n.Int64(); err == nil {
				out = append(out, i)
			}
		}
	}
	return out
}
