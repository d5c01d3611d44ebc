package noise

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
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A rule of the kind id fits nearly every value that occurs a few times. So it is tried only for values that look like
// an id: a number that occurs in several places or counts up, or a generated text of one word.

// oneWord matches texts that consist of the characters of ids.
var oneWord = regexp.MustCompile(`^[\w.:~+/=-]+$`)

// looksLikeIDs reports whether all values are texts that could be ids. Each is a single word. Either all have a digit,
// or there are several that the other side never has.
func (it *differingMember) looksLikeIDs() bool {
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

func (it *differingMember) areIntegers() bool {
	for _, f := range it.findings {
		for _, text := range [2]string{f.Reference, f.Candidate} {
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				return false
			}
		}
	}
	return true
}

// isNumericID reports whether the values look like ids that are integers.
func (s *measurement) isNumericID(it *differingMember) bool {
	return it.areIntegers() && (it.repeated || s.appearsElsewhere(it) || s.isCounter(it))
}

// appearsElsewhere reports whether all values also occur under other names, or in the path of a request.
func (s *measurement) appearsElsewhere(it *differingMember) bool {
	for i, f := range it.findings {
		for side, value := range [2]string{f.Reference, f.Candidate} {
			if len(value) < 2 || !appearsIn(it.cases[i].Transcripts[side], value, it.key) {
				return false
			}
		}
	}
	return true
}

// appearsIn reports whether a value occurs in a transcript under another name than not.
func appearsIn(t *transcript.Transcript, value, not string) bool {
	found := false
	for _, d := range documentsOf(t) {
		_, path, _ := strings.Cut(d.of, " ")
		found = found || slices.Contains(strings.Split(path, "/"), value)
		root, _, err := jsontree.Parse(d.data)
		if err != nil {
			continue
		}
		eachValue(root, "$", "", func(path, _, text string) {
			found = found || text == value && !strings.HasSuffix(path, not)
		})
	}
	return found
}

// eachValue calls f with every text and number, its path, and the path of its list; "" outside of lists.
func eachValue(n *jsontree.Node, path, list string, f func(path, list, text string)) {
	n.Open()
	switch n.Kind {
	case jsontree.Object:
		for i, item := range n.Items {
			eachValue(item, path+verdict.JSONPathStep(n.Names[i]), list, f)
		}
	case jsontree.Array:
		for _, item := range n.Items {
			eachValue(item, path+"[*]", path+"[*]", f)
		}
	case jsontree.String, jsontree.Number:
		f(path, list, n.Text)
	}
}

// A document is the body of a response or the data of an event.
type document struct {
	data []byte
	of   string // the method and the path, or the stream
	at   time.Time
}

// documentsOf returns the bodies of the responses of a target, and then the data of the events that it has sent.
func documentsOf(t *transcript.Transcript) []document {
	var out []document
	for i := range t.Steps {
		for _, x := range t.Steps[i].Exchanges {
			if x.Response != nil {
				target, _, _ := strings.Cut(x.Request.Target, "?")
				out = append(out, document{x.Response.Body.Bytes, x.Request.Method + " " + target, t.Started.Add(x.Done)})
			}
		}
	}
	for _, st := range t.Streams {
		for i := range st.Events {
			if ev := &st.Events[i]; !ev.Sent {
				out = append(out, document{[]byte(ev.Data), "stream " + st.Name, t.Started.Add(ev.At)})
			}
		}
	}
	return out
}

// minCounterSteps is how many steps from one number to the next prove a counter.
const minCounterSteps = 8

// isCounter reports whether the numbers grow with time. Scenarios run at the same time, so one in four may be late.
func (s *measurement) isCounter(it *differingMember) bool {
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
	return steps >= minCounterSteps && 4*grown >= 3*steps
}

type numberSeen struct {
	value int64
	at    time.Time
}

// differingWords returns the words in which two texts differ.
func differingWords(ref, cand string) string {
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
