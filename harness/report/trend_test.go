package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// history is one run per day: green, with a new finding, with that finding and another one, and green again.
func history() []report.Dated {
	value := func(at string) verdict.Finding {
		return step(3, "1", "GET /", printed(at, difference("value", "body /"+at, "the values differ", "1", "2")))
	}
	runs := []report.Dated{
		{"1/report.json", document(scenario("one"), scenario("two"))},
		{"2/report.json", document(scenario("one", value("a")), scenario("two"))},
		{"3/report.json", document(scenario("one", value("a")), scenario("two", value("b")))},
		{"4/report.json", document(scenario("one"), scenario("two"))},
	}
	for i := range runs {
		runs[i].Started = runs[i].Started.AddDate(0, 0, i)
		runs[i].Latency = []report.Latency{{Operation: "GET /a", Pairs: 1, Ratio: 9}, {Operation: "GET /b", Pairs: 9, Ratio: 1.5}}
	}
	return runs
}

func TestATrendIsInTheOrderOfTheClock(t *testing.T) {
	runs := history()
	twice := report.Dated{"copy/report.json", runs[1].Document}
	shard := *runs[2].Document
	shard.Run.Shard = &verdict.Shard{Index: 1, Of: 2, Selected: 2}
	trend := report.NewTrend([]report.Dated{runs[3], runs[0], runs[2], twice, runs[1], {"shard/report.json", &shard}})
	type row struct {
		name               string
		differ, new, fixed int
	}
	var got []row
	for _, p := range trend.Points {
		got = append(got, row{p.Name, p.Differ, p.New, p.Fixed})
	}
	want := []row{{"1/report.json", 0, 0, 0}, {"2/report.json", 1, 1, 0}, {"3/report.json", 2, 1, 0}, {"4/report.json", 0, 0, 2}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	if want := []string{"copy/report.json: the same run as 2/report.json", "shard/report.json: it is a shard; merge the shards of the run"}; !cmp.Equal(want, trend.Skipped) {
		t.Errorf("left: %q", trend.Skipped)
	}
	if p := trend.Points[0]; p.Ratio != 1.5 || p.Operations.String() != "2/3" || p.Properties.String() != "2/3" {
		t.Errorf("%+v", p)
	}
}

func historyPage(t *testing.T, trend *report.Trend) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Site(trend)[0].Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheHistoryIsAsReviewed(t *testing.T) {
	trend := report.NewTrend(history())
	trend.Skipped = []string{"5/report.json: it has format 1, and this lockstep reads format 2"}
	golden(t, filepath.Join("testdata", "trend.html"), []byte(historyPage(t, trend)))
}

func TestAHistoryRunsNothingAndLoadsNothing(t *testing.T) {
	runs := history()
	for i := range runs {
		runs[i].Name = `"><script>alert(1)</script>` + "\x1b[2J\u202e"
		runs[i].Verdict = `<img src=x onerror=alert(1)>`
	}
	trend := report.NewTrend(runs)
	trend.Skipped = []string{"<svg onload=alert(1)>"}
	page := historyPage(t, trend)
	for _, never := range []string{"<script", "<img", " src=x onerror=alert(1)>", "<svg onload", "\x1b", "\u202e", "@import", "url(", "unsafe-"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
	for _, link := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !regexp.MustCompile(`^(runs/[0-9TZ.]+-[0-9]+\.html|badge-[A-Za-z0-9_-]+\.svg)$`).MatchString(link[1]) {
			t.Errorf("the page leads to %q", link[1])
		}
	}
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	if want := "content=\"default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'\""; !strings.Contains(page, want) {
		t.Errorf("the page has no %s", want)
	}
}

// Each picture is well-formed, and all of its marks are inside.
func TestThePicturesOfAHistory(t *testing.T) {
	one := history()[:1]
	none := history()[:1]
	none[0].Document = &report.Document{Started: time.Unix(0, 0)}
	many := []report.Dated{}
	const maxShown = 365
	for i := range maxShown + 40 {
		d := *history()[1].Document
		d.Started = d.Started.AddDate(0, 0, i)
		d.Latency = []report.Latency{{Pairs: 1, Ratio: float64(i)}}
		many = append(many, report.Dated{"report.json", &d})
	}
	for name, runs := range map[string][]report.Dated{"four": history(), "one": one, "nothing in it": none, "many": many, "no run": nil} {
		page := historyPage(t, report.NewTrend(runs))
		pictures := regexp.MustCompile(`(?s)<svg viewBox="0 0 900.*?</svg>`).FindAllString(page, -1)
		if len(pictures) != 3 && runs != nil {
			t.Fatalf("%s: %d pictures", name, len(pictures))
		}
		for _, p := range pictures {
			d := xml.NewDecoder(strings.NewReader(p))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v in %s", name, err, p)
				}
			}
			for _, m := range regexp.MustCompile(` (?:x|y|cx|cy)="([^"]*)"`).FindAllStringSubmatch(p, -1) {
				if strings.HasPrefix(m[1], "-") || strings.Contains(m[1], "NaN") || strings.Contains(m[1], "Inf") || len(m[1]) > 5 {
					t.Errorf("%s: a mark at %s", name, m[1])
				}
			}
		}
		if rows := strings.Count(page, `<tr><td><a href="runs/`); rows != min(len(runs), maxShown) {
			t.Errorf("%s: %d rows of %d runs", name, rows, len(runs))
		}
	}
	page := historyPage(t, report.NewTrend(history()))
	if n := len(regexp.MustCompile(`<rect class="differ"[^>]*><title>`).FindAllString(page, -1)); n != 2 {
		t.Errorf("two runs differ, and %d bars say so", n)
	}
}

func TestASiteSaysWhatEachCandidateDoesAndWhenItWasFound(t *testing.T) {
	runs := history()
	runs[3].Document = document(scenario("one"), scenario("two", step(3, "1", "GET /", printed("c", difference("value", "body /c", "the values differ", "1", "2")))))
	runs[3].Started = runs[2].Started.AddDate(0, 0, 1)
	trend := report.NewTrend(runs)
	page := historyPage(t, trend)
	_, found, _ := strings.Cut(page, "<h2>Findings over time</h2>")
	found, _, _ = strings.Cut(found, "</table>")
	var got []string
	for _, row := range regexp.MustCompile(`<tr><td>.*?</tr>`).FindAllString(found, -1) {
		got = append(got, strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(strings.ReplaceAll(row, `aria-label="`, ">"), " ")), " "))
	}
	want := []string{
		`GET / body /c go in 1 scenario 2026-11-23 09:30 2026-11-23 09:30 0 0 0 1">`,
		`GET / body /b go fixed 2026-11-22 09:30 2026-11-22 09:30 0 0 1 0">`,
		`GET / body /a go fixed 2026-11-21 09:30 2026-11-22 09:30 0 1 1 0">`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	_, matrix, _ := strings.Cut(page, "<h2>Candidates and operations</h2>")
	matrix, _, _ = strings.Cut(matrix, "</table>")
	if !strings.Contains(matrix, `>go</a></th>`) || strings.Count(matrix, `<td class="red">1</td>`) != 1 {
		t.Errorf("the matrix is\n%s", matrix)
	}
	var names []string
	for _, f := range html.Site(trend) {
		names = append(names, regexp.MustCompile(`Z-[0-9]+`).ReplaceAllString(f.Name, "Z-seed"))
	}
	wantNames := []string{"index.html"}
	for day := 20; day <= 23; day++ {
		wantNames = append(wantNames, fmt.Sprintf("runs/202611%dT093000.000Z-seed.html", day))
	}
	if diff := cmp.Diff(append(wantNames, "badge-go.svg", "badge.svg"), names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// What a later run could not judge is neither fixed nor fine.
func TestASiteIsNotGreenByAccident(t *testing.T) {
	runs := history()[:3]
	doubtful := scenario("two")
	doubtful.Verdict, doubtful.Reasons = verdict.Unknown, []verdict.Reason{{Text: "nobody knows"}}
	runs[2].Document = document(scenario("two"), doubtful)
	runs[2].Started = runs[1].Started.AddDate(0, 0, 1)
	page := historyPage(t, report.NewTrend(runs))
	if !strings.Contains(page, "<td>not judged since</td>") || strings.Contains(page, "<td>fixed</td>") || strings.Contains(page, `<td class="green">`) || !strings.Contains(page, "<td>?</td>") {
		t.Errorf("the page is\n%s", page)
	}
}

// A page of a run is recognised; one that somebody has changed is not.
func TestAPageIsRecognised(t *testing.T) {
	page := pageOf(t, history()[1].Document)
	if !html.IsPage([]byte(page)) {
		t.Error("a page is not recognised")
	}
	for _, changed := range []string{
		"", page[:len(page)-1], page + "<script>1</script>", strings.Replace(page, "default-src 'none'", "default-src *", 1),
		strings.Replace(page, "\"use strict\"", "alert(1)", 1), strings.Replace(page, `id="data">`, `id="data"></script><script>alert(1)</script><script>`, 1),
	} {
		if html.IsPage([]byte(changed)) {
			t.Errorf("a changed page is taken for one of lockstep: %.80q", changed)
		}
	}
}
