package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// DiffFormat is the version of the JSON of a Diff.
const DiffFormat = 1

// DiffJSON writes a comparison of two runs as one JSON document, in which everything can be seen, see JSON.
func DiffJSON(w io.Writer, d *Diff) error {
	out := *d
	for _, items := range []*[]DiffItem{&out.New, &out.Changed, &out.Fixed, &out.Unchanged} {
		*items = present(*items)
	}
	for _, turns := range []*[]Turn{&out.Lost, &out.Judged, &out.OnlyBefore, &out.OnlyAfter} {
		*turns = present(*turns)
	}
	return encode(w, struct {
		Format  int             `json:"format"`
		Verdict verdict.Verdict `json:"verdict"`
		Diff
	}{DiffFormat, d.Verdict(), out})
}

// lists are the lists of a comparison in the order in which they are shown, and how many items of each.
func (d *Diff) lists() []struct {
	word  string
	items []DiffItem
	most  int
} {
	return []struct {
		word  string
		items []DiffItem
		most  int
	}{{"NEW", d.New, 25}, {"CHANGED", d.Changed, 25}, {"FIXED", d.Fixed, 10}, {"UNCHANGED", d.Unchanged, 5}}
}

// DiffText writes a comparison of two runs for a person. Verbose shows all there is.
func DiffText(w io.Writer, d *Diff, paint Paint) error {
	p := &page{paint: paint}
	p.side("before", &d.Before)
	p.side("after", &d.After)
	p.gap()
	for _, l := range d.lists() {
		for i := range l.items {
			if i == l.most && !paint.Verbose {
				p.line(0, fmt.Sprintf("and %d more that are %s: --verbose shows them", len(l.items)-i, strings.ToLower(l.word)))
				break
			}
			p.item(l.word, &l.items[i])
		}
	}
	p.turn("UNKNOWN", d.Lost)
	p.turn("JUDGED", d.Judged)
	p.apart("only in "+d.Before.Name, d.OnlyBefore)
	p.apart("only in "+d.After.Name, d.OnlyAfter)
	if n := len(d.New) + len(d.Changed) + len(d.Fixed) + len(d.Unchanged) + len(d.Lost) + len(d.Judged) + len(d.OnlyBefore) + len(d.OnlyAfter); n > 0 {
		p.gap()
	}
	p.line(0, p.verdict(d.Verdict(), d.word()+":"), " ", d.sum())
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *page) side(label string, s *DiffSide) {
	p.row(label, fmt.Sprintf("%s: %s in %s, %s, lockstep %s", clip(s.Name, 200), clip(string(s.Verdict), 20), count(s.Scenarios, "scenario"), s.Started.Format("2006-01-02 15:04 UTC"), clip(s.Version, 40)))
}

func (p *page) item(word string, i *DiffItem) {
	paint := map[string]func(string) string{"NEW": p.red, "CHANGED": p.red, "FIXED": p.green}[word]
	if paint == nil || i.Accepted != "" {
		paint = p.dim
	}
	text := fmt.Sprintf("%s: %s: %s (%s) [%s %s]", clip(i.Scenarios[0], 120), clip(i.At, 200), clip(i.Text, 300), clip(i.Target, 60), clip(i.Kind, 60), prints(i))
	if i.Accepted != "" {
		text += ", accepted by " + clip(i.Accepted, 60)
	}
	p.line(0, paint(word), " ", text)
	if word == "NEW" || word == "CHANGED" {
		for _, v := range i.values() {
			p.line(2, pad(v[0], len("reference")), "  ", v[1])
		}
	}
	if len(i.Scenarios) > 1 {
		p.line(2, "also in ", count(len(i.Scenarios)-1, "scenario"), ": ", list(clipped(i.Scenarios[1:], 120), ", "))
	}
}

// values returns what the two sides have, cut to what differs.
func (i *DiffItem) values() [][2]string {
	names, left, right := [2]string{"want", "got"}, i.Want, i.Got
	if i.Class == string(verdict.Difference) {
		names, left, right = [2]string{"reference", "candidate"}, i.Reference, i.Candidate
	}
	left, right = facing(left, right)
	var out [][2]string
	for k, v := range []string{left, right} {
		if v != "" {
			out = append(out, [2]string{names[k], clip(v, 400)})
		}
	}
	return out
}

// prints shows the fingerprints of an item: one, or what has become of it.
func prints(i *DiffItem) string {
	switch {
	case i.Before == "" || i.Before == i.After:
		return clip(i.After, 20)
	case i.After == "":
		return clip(i.Before, 20)
	default:
		return clip(i.Before, 20) + " → " + clip(i.After, 20)
	}
}

func (p *page) turn(word string, turns []Turn) {
	const most = 25
	for i, t := range turns {
		if i == most && !p.paint.Verbose {
			p.line(0, fmt.Sprintf("and %s more", count(len(turns)-i, "scenario")))
			return
		}
		paint, text := p.green, ""
		if word == "UNKNOWN" {
			paint = p.red
		}
		if t.Reason != "" {
			text = ": " + clip(t.Reason, 300)
		}
		p.line(0, paint(word), " ", fmt.Sprintf("%s: it was %s, and is %s%s", clip(t.Scenario, 120), clip(string(t.Before), 20), clip(string(t.After), 20), text))
	}
}

func (p *page) apart(label string, turns []Turn) {
	if len(turns) == 0 {
		return
	}
	names := make([]string, len(turns))
	for i, t := range turns {
		names[i] = clip(t.Scenario, 120)
		if p.paint.Verbose {
			p.line(0, p.dim(clip(label, 200)+":"), " ", names[i])
		}
	}
	if !p.paint.Verbose {
		p.line(0, p.dim(clip(label, 200)+":"), " ", count(len(turns), "scenario"), ": ", list(names, ", "))
	}
}

// word says in one word what two runs come to.
func (d *Diff) word() string {
	switch d.Verdict() {
	case verdict.Differ:
		return "worse"
	case verdict.Unknown:
		return "unknown"
	default:
		return "no worse"
	}
}

// sum counts what has become of the findings.
func (d *Diff) sum() string {
	text := fmt.Sprintf("%s, %s, %s, %s in %s that both have", places(d.New, "new"), places(d.Changed, "changed"), places(d.Fixed, "fixed"), places(d.Unchanged, "unchanged"), count(d.Common(), "scenario"))
	if n := len(d.Lost); n > 0 {
		text += fmt.Sprintf("; %s not judged any more", count(n, "scenario"))
	}
	return text
}

// places counts findings, and says how many of them are accepted.
func places(items []DiffItem, word string) string {
	n, accepted := 0, 0
	for _, i := range items {
		n += i.Count
		if i.Accepted != "" {
			accepted += i.Count
		}
	}
	if accepted == 0 {
		return fmt.Sprintf("%d %s", n, word)
	}
	return fmt.Sprintf("%d %s (%d accepted)", n, word, accepted)
}

// DiffMarkdown writes a comparison of two runs as a summary for a pull request. Nothing that a server said is markup.
func DiffMarkdown(w io.Writer, d *Diff) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s lockstep: %s\n\n%s\n\n", signs[d.Verdict()], d.word(), mdText(d.sum(), 1000))
	b.WriteString("| | run | verdict | scenarios |\n| --- | --- | --- | ---: |\n")
	for _, s := range []struct {
		label string
		side  *DiffSide
	}{{"before", &d.Before}, {"after", &d.After}} {
		fmt.Fprintf(&b, "| %s | %s, %s | %s | %d |\n", s.label, mdText(s.side.Name, 200), mdText(s.side.Started.Format("2006-01-02 15:04 UTC"), 40), mdText(string(s.side.Verdict), 20), s.side.Scenarios)
	}
	for _, l := range d.lists() {
		for i := range l.items {
			if i == l.most {
				fmt.Fprintf(&b, "\n**+%d more %s**\n", len(l.items)-i, strings.ToLower(l.word))
				break
			}
			l.items[i].markdown(&b, l.word)
		}
	}
	for _, t := range d.Lost {
		fmt.Fprintf(&b, "\n- **unknown** %s: it was %s: %s\n", mdCode(t.Scenario, 200), mdText(string(t.Before), 20), mdText(t.Reason, 300))
	}
	for _, s := range []struct {
		name  string
		turns []Turn
	}{{d.Before.Name, d.OnlyBefore}, {d.After.Name, d.OnlyAfter}} {
		if n := len(s.turns); n > 0 {
			fmt.Fprintf(&b, "\nonly in %s: %s\n", mdText(s.name, 200), count(n, "scenario"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (i *DiffItem) markdown(b *strings.Builder, word string) {
	fmt.Fprintf(b, "\n- **%s** %s %s: %s (%s, %s)", strings.ToLower(word), mdCode(i.Scenarios[0], 200), mdText(i.At, 200), mdText(i.Text, 300), mdText(i.Target, 60), mdText(i.Kind, 60))
	if i.Accepted != "" {
		fmt.Fprintf(b, ", accepted by %s", mdText(i.Accepted, 60))
	}
	if n := len(i.Scenarios) - 1; n > 0 {
		fmt.Fprintf(b, ", and in %s more", count(n, "scenario"))
	}
	b.WriteByte('\n')
	if word == "NEW" || word == "CHANGED" {
		for _, v := range i.values() {
			fmt.Fprintf(b, "  - %s: %s\n", v[0], mdCode(v[1], 400))
		}
	}
}
