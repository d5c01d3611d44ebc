package html

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

//go:embed page/trend.css
var trendStyle string

// maxPoints limits how many runs a page shows. It shows the latest ones.
const maxPoints = 365

// A File is one file of a site.
type File struct {
	Name  string // its path in the folder of the site, with slashes
	Run   int    // index of the run that it shows, or -1
	Write func(io.Writer) error
}

// Site returns the files of a site that shows a history: index.html, a page for each run, and badges. It works from any
// folder, without a server.
func Site(t *report.Trend) []File {
	files := []File{{"index.html", -1, func(w io.Writer) error { return writeIndex(w, t) }}}
	for i := range shownPoints(t) {
		run := shownPoints(t)[i].Run
		files = append(files, File{pageName(run), len(t.Points) - len(shownPoints(t)) + i, func(w io.Writer) error { return Write(w, run) }})
	}
	for _, c := range candidates(t.Points) {
		files = append(files, File{badgeName(c.name), -1, c.writeBadge})
	}
	if n := len(t.Points); n > 0 {
		files = append(files, File{"badge.svg", -1, func(w io.Writer) error { return WriteBadge(w, t.Points[n-1].Run) }})
	}
	return files
}

func shownPoints(t *report.Trend) []report.TrendPoint {
	return t.Points[max(0, len(t.Points)-maxPoints):]
}

// pageName returns the name of the page of a run, which does not change when runs are added.
func pageName(run *report.Document) string {
	return fmt.Sprintf("runs/%s-%d.html", run.Started.UTC().Format("20060102T150405.000Z"), run.Seed)
}

// writeIndex writes a history as a page that works from a file, without a network and without a program: its policy
// forbids all scripts and requests. Pictures are SVG with a title on each mark, and a table has all numbers.
func writeIndex(w io.Writer, t *report.Trend) error {
	p := &trendPage{points: shownPoints(t)}
	policy := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", sha256Base64(trendStyle))
	fmt.Fprintf(p, pageHead, policy, "lockstep: history", trendStyle)
	p.WriteString("<main>\n<h1>History</h1>\n")
	p.head(t)
	p.matrix()
	p.findings()
	p.scenarios()
	p.coverage()
	p.latency()
	p.table()
	p.skipped(t.Skipped)
	p.WriteString("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, p.String())
	return err
}

// A trendPage is a page that is being written.
type trendPage struct {
	strings.Builder
	points []report.TrendPoint
}

// plainText returns a text as HTML without markup, with invisible characters escaped.
func plainText(s string, columns int) string { return html.EscapeString(textfit.Clip(s, columns)) }

func (p *trendPage) head(t *report.Trend) {
	if len(p.points) == 0 {
		p.WriteString("<p>There are no runs.</p>\n")
		return
	}
	first, last := p.points[0], p.points[len(p.points)-1]
	fmt.Fprintf(p, "<p>%s from %s to %s", textfit.Count(len(t.Points), "run"), day(first), day(last))
	if n := len(t.Points) - len(p.points); n > 0 {
		fmt.Fprintf(p, ", of which the last %d are shown", len(p.points))
	}
	fmt.Fprintf(p, ". The last one: <strong>%s</strong>, %d match, %d differ, %d unknown, %d waived; %d new and %d fixed findings.</p>\n",
		plainText(string(last.Verdict), 20), last.Match, last.Differ, last.Unknown, last.Waived, last.New, last.Fixed)
}

func day(t report.TrendPoint) string { return t.Started.UTC().Format("2006-01-02 15:04") }

// The size of a picture, in its own units.
const (
	chartWidth, chartHeight          = 900, 200
	chartLeft, chartTop, chartBottom = 46, 8, 22
	plotWidth, plotHeight            = chartWidth - chartLeft - 6, chartHeight - chartTop - chartBottom
)

// x returns the horizontal position of a run. y returns the vertical position of a value between 0 and 1.
func (p *trendPage) x(i int) float64 {
	return chartLeft + plotWidth*(float64(i)+0.5)/float64(max(1, len(p.points)))
}

func y(share float64) float64 { return chartTop + plotHeight*(1-min(max(share, 0), 1)) }

// chart draws a picture with a vertical axis of values, and the days of its first and last run.
func (p *trendPage) chart(title, note string, marks []string, draw func()) {
	fmt.Fprintf(p, "<h2>%s</h2>\n<figure tabindex=\"0\">\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", title, chartWidth, chartHeight, title)
	for i, mark := range marks {
		at := y(float64(i) / float64(len(marks)-1))
		fmt.Fprintf(p, "<line class=\"axis\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", chartLeft, at, chartWidth-6, at, chartLeft-6, at+4, mark)
	}
	draw()
	if n := len(p.points); n > 0 {
		fmt.Fprintf(p, "<text x=\"%d\" y=\"%d\">%s</text>\n", chartLeft, chartHeight-6, day(p.points[0]))
		if n > 1 {
			fmt.Fprintf(p, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", chartWidth-6, chartHeight-6, day(p.points[n-1]))
		}
	}
	fmt.Fprintf(p, "</svg>\n<figcaption>%s</figcaption>\n</figure>\n", note)
}

// key is an entry of a legend.
func key(class, name string) string {
	return fmt.Sprintf(`<span class="key"><svg viewBox="0 0 10 10" aria-hidden="true"><circle class="%s" cx="5" cy="5" r="4"/></svg>%s</span>`, class, name)
}

func (p *trendPage) scenarios() {
	most := 1
	for _, t := range p.points {
		most = max(most, t.Match+t.Waived+t.Unknown+t.Differ)
	}
	note := key("differ", "differ") + key("unknown", "unknown") + key("waived", "waived") + key("match", "match")
	p.chart("Scenarios", note, []string{"0", fmt.Sprint(most / 2), fmt.Sprint(most)}, func() {
		width := min(48, max(1, 0.8*plotWidth/float64(max(1, len(p.points)))))
		for i, t := range p.points {
			from := 0
			for _, part := range []struct {
				class string
				n     int
			}{{"differ", t.Differ}, {"unknown", t.Unknown}, {"waived", t.Waived}, {"match", t.Match}} { // red is at the bottom
				if part.n == 0 {
					continue
				}
				low, high := y(float64(from)/float64(most)), y(float64(from+part.n)/float64(most))
				height := max(1.5, low-high) // so that one of ten thousand is visible, too
				fmt.Fprintf(p, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%s: %d %s</title></rect>\n", part.class, p.x(i)-width/2, low-height, width, height, day(t), part.n, part.class)
				from += part.n
			}
		}
	})
}

func (p *trendPage) coverage() {
	p.chart("Coverage of the contract", key("one", "operations")+key("two", "statuses")+key("three", "properties"), []string{"0%", "50%", "100%"}, func() {
		for _, l := range []struct {
			class, name string
			of          func(*report.TrendPoint) coverage.Tally
		}{
			{"three", "properties", func(t *report.TrendPoint) coverage.Tally { return t.Properties }},
			{"two", "statuses", func(t *report.TrendPoint) coverage.Tally { return t.Statuses }},
			{"one", "operations", func(t *report.TrendPoint) coverage.Tally { return t.Operations }},
		} {
			p.line(l.class, func(t *report.TrendPoint) (float64, string, bool) {
				tally := l.of(t)
				return float64(tally.Reached) / float64(max(1, tally.Declared)), fmt.Sprintf("%s of %s", tally, l.name), tally.Declared > 0
			})
		}
	})
}

func (p *trendPage) latency() {
	most := 2.0
	for _, t := range p.points {
		for most < t.Ratio && most < 1024 {
			most *= 2
		}
	}
	p.chart("Time of the candidates, relative to the reference", "The median over all operations. It does not affect the verdict.", []string{"0", fmt.Sprintf("×%g", most/2), fmt.Sprintf("×%g", most)}, func() {
		p.line("one", func(t *report.TrendPoint) (float64, string, bool) {
			return t.Ratio / most, fmt.Sprintf("×%.3g", t.Ratio), t.Ratio > 0
		})
	})
}

// line draws a line through the runs that have a value. It is interrupted at runs without one.
func (p *trendPage) line(class string, value func(*report.TrendPoint) (share float64, text string, ok bool)) {
	var path, dots strings.Builder
	pen := "M"
	for i := range p.points {
		share, text, ok := value(&p.points[i])
		if !ok {
			pen = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", pen, p.x(i), y(share))
		pen = "L"
		fmt.Fprintf(&dots, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"><title>%s: %s</title></circle>\n", class, p.x(i), y(share), day(p.points[i]), text)
	}
	if path.Len() > 0 {
		fmt.Fprintf(p, "<path class=\"%s\" d=\"%s\"/>\n%s", class, path.String(), dots.String())
	}
}

// table lists the runs, the latest one first.
func (p *trendPage) table() {
	p.WriteString("<h2>Runs</h2>\n<table tabindex=\"0\">\n<thead><tr><th>began (UTC)</th><th>verdict</th><th>report</th><th>match</th><th>differ</th><th>unknown</th><th>waived</th><th>new</th><th>fixed</th><th>operations</th><th>statuses</th><th>properties</th><th>time</th></tr></thead>\n<tbody>\n")
	for i := len(p.points) - 1; i >= 0; i-- {
		t := &p.points[i]
		time := "–"
		if t.Ratio > 0 {
			time = fmt.Sprintf("×%.3g", t.Ratio)
		}
		fmt.Fprintf(p, "<tr><td><a href=\"%s\">%s</a></td><td>%s</td><td>%s</td>", pageName(t.Run), day(*t), report.Signs[t.Verdict]+" "+plainText(string(t.Verdict), 20), plainText(t.Name, 200))
		for _, n := range []int{t.Match, t.Differ, t.Unknown, t.Waived, t.New, t.Fixed} {
			fmt.Fprintf(p, "<td>%d</td>", n)
		}
		fmt.Fprintf(p, "<td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", t.Operations, t.Statuses, t.Properties, time)
	}
	p.WriteString("</tbody>\n</table>\n")
}

func (p *trendPage) skipped(files []string) {
	const most = 50
	if len(files) == 0 {
		return
	}
	fmt.Fprintf(p, "<h2>Not shown</h2>\n<ul class=\"soft\">\n")
	for i, f := range files {
		if i == most {
			fmt.Fprintf(p, "<li>and %d more</li>\n", len(files)-most)
			break
		}
		fmt.Fprintf(p, "<li>%s</li>\n", plainText(f, 400))
	}
	p.WriteString("</ul>\n")
}
