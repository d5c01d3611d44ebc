package house

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root      = "../.."
	behaviour = "docs/behaviour/"
)

// documents are the behaviour documents, by their names in citations.
var documents = map[string]string{"CT": "client-tools.md", "GA": "goose-api.md", "SDK": "agent-sdk.md"}

// unproved has the decisions without a scenario or test, with the reason.
var unproved = map[string]string{
	"S29": "it says what is not specified",
}

// A citation is a reference to a behaviour document: "CT 3.4", "GA Q27", or "S29" alone.
type citation struct{ document, place string }

func (c citation) String() string { return strings.TrimSpace(c.document + " " + c.place) }

var (
	head     = regexp.MustCompile(`\b(CT|GA|SDK)(2?) (\d+[a-b]?(?:\.\d+)*|[CDQV]\d+)`)
	tail     = regexp.MustCompile(`^(?: steps? \d+(?:(?:,| and| to) \d+)*| \((?:fact )?\d+\)| items? \d+)?(?:, | and | to | or )(\d+(?:\.\d+)+|[CDQV]\d+|\d{1,2}(?:[),;:]|$))`)
	decision = regexp.MustCompile(`\b([SGMXT])([1-9]\d?)\b(?: to ([SGMXT])([1-9]\d?)\b)?`)
	link     = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	anchor   = regexp.MustCompile(`<a id="([^"]+)"></a>`)
	heading  = regexp.MustCompile(`^#{2,4} (\d+(?:\.\d+)*)\.? `)
	code     = regexp.MustCompile("`[^`]*`")
	item     = regexp.MustCompile(`^(\d+(?:\.\d+)*|[CDQV]\d+)(?: to (\d+(?:\.\d+)*))?$`)
	aside    = regexp.MustCompile(` \([^()]*\)`)
)

// cited returns the citations in a line. A list, as in "CT 3.4, 9.2", cites each of its sections.
func cited(line string) []citation {
	var all []citation
	for _, at := range head.FindAllStringSubmatchIndex(line, -1) {
		name := line[at[2]:at[5]]
		all = append(all, citation{name, line[at[6]:at[7]]})
		for rest := line[at[1]:]; ; {
			m := tail.FindStringSubmatch(rest)
			if m == nil {
				break
			}
			place := strings.TrimRight(m[1], "),;:")
			all = append(all, citation{name, place})
			rest = rest[len(m[0])-len(m[1])+len(place):]
		}
	}
	return append(all, decisionsIn(line)...)
}

// decisionsIn returns the decisions that a line cites. A range, as in "X1 to X5", cites each of them.
func decisionsIn(line string) []citation {
	var all []citation
	for _, m := range decision.FindAllStringSubmatch(line, -1) {
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[3] == m[1] {
			last, _ = strconv.Atoi(m[4])
		}
		for n := first; n <= last; n++ {
			all = append(all, citation{"", m[1] + strconv.Itoa(n)})
		}
	}
	return all
}

// sourceOf returns the citations in the source of a scenario: "client-tools.md 3.4, V55, S3; goose-api.md 7.8". It
// ignores sources that are not behaviour documents. Its error quotes what it cannot read.
func sourceOf(source string) ([]citation, error) {
	var all []citation
	for group := range strings.SplitSeq(source, ";") {
		name, items, _ := strings.Cut(strings.TrimSpace(group), " ")
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		var short string
		for s, document := range documents {
			if document == name {
				short = s
			}
		}
		if short == "" {
			return nil, fmt.Errorf("there is no %s%s: write %s", behaviour, name, strings.Join(slices.Sorted(maps.Values(documents)), " or "))
		}
		for what := range strings.SplitSeq(aside.ReplaceAllString(items, ""), ", ") {
			if found := decisionsIn(what); len(found) > 0 {
				all = append(all, found...)
			} else if m := item.FindStringSubmatch(what); m != nil {
				all = append(all, citation{short, m[1]})
				if m[2] != "" {
					all = append(all, citation{short, m[2]})
				}
			} else {
				return nil, fmt.Errorf("%q cannot be read: write sections, rows and decisions, as in `%s 3.4, D20, S2`", what, name)
			}
		}
	}
	return all, nil
}

func TestCitationsAreRead(t *testing.T) {
	for line, want := range map[string]string{
		"as CT 3.4 step 4, 4.4, S3 and D8 say":      "CT 3.4|CT 4.4|S3",
		"(CT 12, D8 and D29)":                       "CT 12|CT D8|CT D29",
		"(GA 7.6, 19), GA 4.1 to 4.7":               "GA 7.6|GA 19|GA 4.1|GA 4.7",
		"GA 7.8, 200 bytes of it":                   "GA 7.8",
		"CT 3.2, GA 2.1; X1 to X3":                  "CT 3.2|GA 2.1|X1|X2|X3",
		"(SDK 6.2, decision M34)":                   "SDK 6.2|M34",
		"GA2 6.3":                                   "GA2 6.3",
		"X509, S, Q3-2024, M34b, a GA release of 3": "",
	} {
		if got := join(cited(line)); got != want {
			t.Errorf("%q cites %s, want %s", line, got, want)
		}
	}
	for source, want := range map[string]string{
		"client-tools.md 3.4 (2), V55, S1; goose-api.md 4.1 to 4.7, X1 to X2; RFC 9110 5.3": "CT 3.4|CT V55|S1|GA 4.1|GA 4.7|X1|X2",
		"client-tools.md 1 (facts 1, 2), 2.6, 5 (agreements)":                               "CT 1|CT 2.6|CT 5",
	} {
		if got, err := sourceOf(source); err != nil || join(got) != want {
			t.Errorf("%q cites %s, want %s (%v)", source, join(got), want, err)
		}
	}
	for _, source := range []string{"decisions.md S1", "client-tools.md here"} {
		if got, err := sourceOf(source); err == nil {
			t.Errorf("%q cites %s, want an error", source, join(got))
		}
	}
}

func join(all []citation) string {
	var s []string
	for _, c := range all {
		s = append(s, c.String())
	}
	return strings.Join(s, "|")
}

func TestCitationsLeadSomewhere(t *testing.T) {
	anchors := anchorsOf(t)
	count := 0
	for _, file := range citing(t) {
		for n, line := range prose(t, file) {
			all := cited(line)
			if source, ok := strings.CutPrefix(line, "source: "); ok && strings.HasPrefix(file, "scenarios") {
				var err error
				if all, err = sourceOf(source); err != nil {
					t.Errorf("%s:%d: %v", file, n, err)
				}
			}
			count += len(all)
			for _, c := range all {
				if why := dead(c, anchors); why != "" {
					t.Errorf("%s:%d: %s leads nowhere: %s", file, n, c, why)
				}
			}
		}
	}
	if count < 1000 {
		t.Errorf("only %d citations were found: this test has lost its object", count)
	}
}

// dead says why a citation is wrong, and what to write instead. It returns "" for a correct one.
func dead(c citation, anchors map[string]map[string]bool) string {
	if c.document == "" {
		for _, of := range anchors {
			if of[strings.ToLower(c.place)] {
				return ""
			}
		}
		return fmt.Sprintf("no file of %s has the decision; write its number, or add the decision with `<a id=\"%s\"></a>`", behaviour, strings.ToLower(c.place))
	}
	name, ok := documents[c.document]
	if !ok {
		return fmt.Sprintf("the documents are %s; write the section that has it now", strings.Join(slices.Sorted(maps.Keys(documents)), ", "))
	}
	id := strings.ToLower(c.document + "-" + c.place)
	if anchors[name][id] {
		return ""
	}
	var near []string
	for other := range anchors[name] {
		if parent, _, _ := strings.Cut(id, "."); strings.HasPrefix(other, parent+".") {
			near = append(near, other)
		}
	}
	slices.Sort(near)
	if near == nil {
		near = []string{"those of its table of contents"}
	}
	return fmt.Sprintf("%s%s has no `<a id=%q></a>`; write one of its sections: %s", behaviour, name, id, strings.Join(near, ", "))
}

func TestSectionsHaveAnchors(t *testing.T) {
	for short, name := range documents {
		lines := strings.Split(read(t, behaviour+name), "\n")
		fenced := false
		for i, line := range lines {
			fenced = fenced != strings.HasPrefix(line, "```")
			m := heading.FindStringSubmatch(line)
			if m == nil || fenced {
				continue
			}
			want := fmt.Sprintf(`<a id="%s-%s"></a>`, strings.ToLower(short), m[1])
			if !slices.Contains(lines[max(0, i-2):i], want) {
				t.Errorf("%s%s:%d: section %s has no anchor: write %s above it", behaviour, name, i+1, m[1], want)
			}
		}
	}
}

func TestDecisionsAreProved(t *testing.T) {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Values(documents)) {
		for _, d := range decisionsOf(read(t, behaviour+name)) {
			at := fmt.Sprintf("%s%s:%d", behaviour, name, d.line)
			if before, twice := seen[d.number]; twice {
				t.Errorf("%s: %s is decided at %s, too: write the next free number", at, d.number, before)
			}
			seen[d.number] = at
			proofs := 0
			for _, m := range link.FindAllStringSubmatch(d.proof, -1) {
				target := path.Join(behaviour, m[1])
				if !isProof(target) {
					continue
				}
				proofs++
				text, err := os.ReadFile(filepath.Join(root, target))
				if err != nil {
					t.Errorf("%s: %s links %s, which does not exist", at, d.number, target)
				} else if !slices.Contains(decisionsIn(string(text)), citation{"", d.number}) {
					t.Errorf("%s: it proves %s (%s) and does not say so: write %[2]s in its source, a comment or the name of a test", target, d.number, at)
				}
			}
			switch _, excepted := unproved[d.number]; {
			case proofs == 0 && !excepted:
				t.Errorf("%s: %s has no proof: link a scenario, or the test that shows it, on a line `  Proof: [name](file).`", at, d.number)
			case proofs > 0 && excepted:
				t.Errorf("%s: %s has a proof: take it out of `unproved` in this test", at, d.number)
			}
		}
	}
	for number := range unproved {
		if seen[number] == "" {
			t.Errorf("there is no decision %s: take it out of `unproved` in this test", number)
		}
	}
}

func isProof(file string) bool {
	return strings.HasPrefix(file, "scenarios") && strings.HasSuffix(file, ".yaml") ||
		strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".test.ts")
}

type decided struct {
	number, proof string
	line          int
}

// decisionsOf returns the decisions of a document, which are list items. A line "Proof:" below an item, with an
// indent, links its proofs.
func decisionsOf(document string) []decided {
	var all []decided
	open := false
	for i, line := range strings.Split(document, "\n") {
		if m := anchor.FindStringSubmatch(line); m != nil && decision.FindString(strings.ToUpper(m[1])) == strings.ToUpper(m[1]) {
			all = append(all, decided{strings.ToUpper(m[1]), "", i + 1})
			open = true
		} else if line != "" && !strings.HasPrefix(line, " ") {
			open = false
		} else if proof, ok := strings.CutPrefix(line, "  Proof: "); ok && open {
			all[len(all)-1].proof = proof
		}
	}
	return all
}

func TestLinksToBehaviourLeadSomewhere(t *testing.T) {
	anchors := anchorsOf(t)
	for _, file := range citing(t) {
		if filepath.Ext(file) != ".md" {
			continue
		}
		for n, line := range prose(t, file) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				target, id, _ := strings.Cut(m[1], "#")
				if strings.Contains(target, ":") {
					continue
				}
				target = path.Join(path.Dir(file), target)
				if m[1][0] == '#' {
					target = file
				}
				name, ours := strings.CutPrefix(target, behaviour)
				if !ours && !strings.HasPrefix(file, behaviour) {
					continue
				}
				if _, err := os.Stat(filepath.Join(root, target)); err != nil {
					t.Errorf("%s:%d: there is no %s to link to", file, n, target)
				} else if ours && id != "" && !anchors[name][id] {
					t.Errorf("%s:%d: %s has no `<a id=%q></a>`: link one of its anchors", file, n, target, id)
				}
			}
		}
	}
}

// anchorsOf returns the anchors of each behaviour document.
func anchorsOf(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	for _, name := range documents {
		all[name] = map[string]bool{}
		for _, m := range anchor.FindAllStringSubmatch(read(t, behaviour+name), -1) {
			if all[name][m[1]] {
				t.Errorf("%s%s: the anchor %s is there twice", behaviour, name, m[1])
			}
			all[name][m[1]] = true
		}
	}
	return all
}
