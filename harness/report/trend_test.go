package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
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
	if err := html.WriteTrend(&b, trend); err != nil {
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
	for _, never := range []string{"<script", "<img", " src=x onerror=alert(1)>", "<svg onload", "\x1b", "\u202e", "@import", "url(", "unsafe-", " href="} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
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
		if rows := strings.Count(page, "<tr><td>"); rows != min(len(runs), maxShown) {
			t.Errorf("%s: %d rows of %d runs", name, rows, len(runs))
		}
	}
	if page := historyPage(t, report.NewTrend(history())); strings.Count(page, `<rect class="differ"`) != 2 {
		t.Errorf("two runs differ, and %d bars say so", strings.Count(page, `<rect class="differ"`))
	}
}
