package browser

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

// shared is the one browser of all tests. Each test has its own tab.
var shared context.Context

func TestMain(m *testing.M) {
	status := run(m)
	if left := leak.Processes(); left != "" && status == 0 {
		fmt.Fprintln(os.Stderr, "the tests have left behind:", left)
		status = 1
	}
	os.Exit(status)
}

func run(m *testing.M) int {
	path, err := exec.LookPath("chromium")
	if err != nil {
		fmt.Fprintln(os.Stderr, "there is no chromium; `make test-browser` installs it")
		return 1
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1200, 1500),
		chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1"))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	var closeBrowser context.CancelFunc
	shared, closeBrowser = chromedp.NewContext(allocator)
	defer func() { _ = chromedp.Cancel(shared); closeBrowser() }() // waits for the process
	if err := chromedp.Do(shared); err != nil {
		fmt.Fprintln(os.Stderr, "start chromium:", err)
		return 1
	}
	return m.Run()
}

// A tab shows one page and records what the page must not do.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu    sync.Mutex
	wrong []string
}

func open(t *testing.T, doc *report.Document, before ...func(*tab)) *tab {
	t.Helper()
	var b bytes.Buffer
	if err := html.Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	return show(t, b.Bytes(), before...)
}

func show(t *testing.T, content []byte, before ...func(*tab)) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	address := "file://" + (&url.URL{Path: file}).EscapedPath()
	if err := chromedp.Listen(b.ctx, func(ev any) {
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			if ev.Request.URL != address {
				b.note("it asks for %s", ev.Request.URL)
			}
		case *page.EventJavascriptDialogOpening:
			b.note("it opens a dialog: %s", ev.Message)
		case *page.EventFrameNavigated:
			if strings.TrimRight(ev.Frame.URL, "#") != address && ev.Frame.URL != "about:blank" {
				b.note("it goes to %s", ev.Frame.URL)
			}
		case *runtime.EventExceptionThrown:
			b.note("an exception: %s", ev.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			b.note("the log says: %s", ev.Entry.Text)
		}
	}); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, page.Enable, page.EnableParams{})
	for _, prepare := range before {
		prepare(b)
	}
	b.do(chromedp.Navigate(address))
	b.until(`document.readyState === "complete" && (document.scripts.length === 0 || document.documentElement.dataset.ready === "yes")`)
	return b
}

func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(shared)
	ctx, stop := context.WithTimeout(ctx, time.Minute) // guards against a browser that hangs
	t.Cleanup(func() { stop(); closeTab() })
	return &tab{t: t, ctx: ctx}
}

func (b *tab) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// call sends a command of the DevTools protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression)); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

func (b *tab) script(statements string) {
	b.t.Helper()
	eval[bool](b, "(() => {"+statements+"; return true})()")
}

// harmless fails when the page has done something that it must not do.
func (b *tab) harmless() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		b.t.Error(w)
	}
}

func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

func (b *tab) expect(what, expression string, want any) {
	b.t.Helper()
	if got := eval[any](b, expression); fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

const (
	causes  = `document.querySelectorAll("#causes .cause").length`
	rows    = `document.querySelectorAll("#scenarios > table > tbody > tr").length`
	firstIs = `document.querySelector("#causes .cause .what").textContent`
	detail  = `document.querySelector("#detail").innerText`
)

// openCause opens the n-th cause, counted from 1.
func (b *tab) openCause(n int) {
	b.t.Helper()
	b.do(chromedp.Click(fmt.Sprintf("#causes > div:nth-child(%d) > .cause", n)))
	b.until(`document.querySelector("#detail .body") !== null`)
}

func (b *tab) choose(filter, value string) {
	b.t.Helper()
	b.script(fmt.Sprintf(`const s = document.querySelector('[data-filter=%s]'); s.value = %q; s.dispatchEvent(new Event("change"))`, filter, value))
}

func TestCausesAreOneLineEachAndFiltersNarrowThem(t *testing.T) {
	b := open(t, red())
	b.expect("causes", causes, 3)
	for i, want := range []struct{ times, what, change string }{
		{"300", "GET /items/{id} body /state", `"done" → "finished"`}, {"1", "POST /items status", "200 → 500"}, {"1", "GET /items/{id} body /n", "1 → 2"},
	} {
		cause := fmt.Sprintf(`document.querySelectorAll("#causes .cause")[%d]`, i)
		b.expect("scenarios of a cause", cause+`.querySelector(".times").textContent`, want.times)
		b.expect("operation and place", cause+`.querySelector(".what").textContent`, want.what)
		b.expect("the change", cause+`.querySelector(".change").textContent`, want.change)
	}

	b.choose("blame", "candidate")
	b.expect("blame", causes, 1)
	b.do(chromedp.Click("#clear"))
	b.choose("operation", "POST /items")
	b.expect("operation", causes, 1)
	b.do(chromedp.Click("#clear"))
	b.choose("tag", "odd")
	b.expect("tag", causes, 1)
	b.expect("scenarios of the tag", rows, 1)
	b.do(chromedp.Click("#clear"))
	b.choose("verdict", "match")
	b.expect("verdict", causes, 0)
	b.expect("scenarios that match", rows, 20)
	b.do(chromedp.Click("#clear"), chromedp.SendKeys(`input[type=search]`, "odd other"))
	b.until(causes + " === 1")
	b.expect("text", rows, 1)
	b.expect("the address has the filter", `location.hash`, "#text=odd%20other")
	b.do(chromedp.Reload())
	b.until(`document.documentElement.dataset.ready === "yes"`)
	b.expect("after reading it again", causes, 1)
	b.harmless()
}

// One value that is wrong in each scenario in another way, and an expectation of the same value, are one line.
func TestWhatIsWrongAtOnePlaceIsOneLine(t *testing.T) {
	var all []verdict.Scenario
	for i := range 96 {
		all = append(all, scenario(fmt.Sprintf("items/%d", i), nil, difference("body /items/3/message", fmt.Sprintf(`"item %d was not found"`, i), fmt.Sprintf(`"item %d was not found."`, i), fmt.Sprintf("%08x", i), verdict.BlameNobody)))
	}
	unmet := difference("body /items/0/message", "", "", "eeee", verdict.BlameCandidate)
	unmet.Class, unmet.Kind, unmet.Want, unmet.Got = verdict.Unmet, "expectation", `"item 0 was not found"`, `"item 0 was not found."`
	all[0].Findings = append(all[0].Findings, unmet)
	b := open(t, document(all...))
	b.expect("lines", causes, 1)
	b.expect("scenarios", `document.querySelector("#causes .times").textContent`, "96")
	b.expect("what differs is marked", `[...document.querySelectorAll("#causes .change mark")].map((m) => m.textContent).join("|")`, ".")
	b.expect("every cause can be chosen", `document.querySelectorAll("#detail .causes button").length`, 97)
	b.script(`document.querySelectorAll("#detail .causes button")[5].click()`)
	b.until(`location.hash.includes("change=5")`)
	b.harmless()
}

func TestAConstantIsShownByTheScenariosThatItNeeds(t *testing.T) {
	constant := difference("body /build", `"a"`, `"b"`, "dddd", verdict.BlameNobody)
	constant.Kind, constant.With = "constant", []string{"items/two", "items/one", "odd[1 2]"}
	b := open(t, document(scenario("items/one", nil), scenario("items/two", nil, constant), scenario("odd[1 2]", nil)))
	b.openCause(1)
	b.expect("how to do it again", `document.querySelector("#detail [data-copy]").textContent`, "lockstep run items/two items/one 'odd[1 2]'")
}

func TestARuleIsOfferedForValuesThatMayBeGenerated(t *testing.T) {
	b := open(t, document(scenario("items/one", nil, difference("body /items/0/id", `"a-1"`, `"b-2"`, "dddd", verdict.BlameNobody))))
	b.openCause(1)
	b.expect("the rule", `[...document.querySelectorAll("#detail [data-copy]")].map((e) => e.textContent).find((text) => text.includes("kind: id"))`, `- {at: "$.items[*].id", kind: id, because: ""}`)
	b.harmless()
}

func TestACauseShowsItsEvidence(t *testing.T) {
	b := open(t, red())
	b.openCause(1)
	body := eval[string](b, `document.querySelector("#detail .body").textContent`)
	for _, want := range []string{
		`"done"`, `"finished"`, "neither side breaks it", `"title": "one"`, "- http: GET /items/1", "lockstep run items/many-0",
		"lockstep run items/many-0 --target new", `curl -i --path-as-is "$URL"'/items/1'`, "header Content-Type is compared", "300 places",
		"HTTP/1.1 200", "lockstep waive --append items/many-0", `difference: {kind: value, fingerprint: "aaaa"}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("it does not say %q:\n%s", want, body)
		}
	}
	b.expect("the part that differs", `document.querySelector("#detail .left mark").textContent`, "done")
	b.expect("the document as one difference", `document.querySelector("#detail .unified").textContent`, `  {
    "id": 1
-   "state": "done"
+   "state": "finished"
    "title": "one"
  }
`)
	b.expect("lanes of the time line", `document.querySelectorAll("#detail svg rect.left:not(.here)").length`, 3)
	b.expect("events on it", `document.querySelectorAll("#detail svg line.event").length`, 4)
	b.expect("the step that it is about", `document.querySelectorAll("#detail svg rect.here").length`, 2)
	b.expect("idle time is cut", `document.querySelectorAll("#detail svg line.cut").length > 0`, true)
	b.script(`document.querySelector("#detail h4 button[title=larger]").click()`)
	b.expect("it can be enlarged", `document.querySelector("#detail .zoom").scrollWidth > document.querySelector("#detail .zoom").clientWidth`, true)
	b.harmless()
}

// Bodies are indented to be read. Numbers, escapes and repeated members stay as the server wrote them.
func TestBodiesAreIndentedAndCanBeSeenAsSent(t *testing.T) {
	const sent = `{"n":12345678901234567890,"n":1.0,"a":[],"s":"a\u00e9, {b: [c","o":{"e":{},"l":[1,null]}}`
	d := document(scenario("items/one", nil, difference("body /n", "1", "2", "aaaa", verdict.BlameNobody)))
	old, cand := story("old", "done"), story("new", "done")
	cand.Steps[1].Exchanges[0].Response.Body = transcript.Body{Bytes: []byte(sent), Size: int64(len(sent))}
	d.Evidence["items/one"] = report.GatherEvidence(&report.EvidenceSource{
		Scenario: &d.Scenarios[0], Transcripts: []*transcript.Transcript{old, cand}, Text: []byte("scenario: x\n"), Mask: func(s string) string { return s },
	})
	b := open(t, d)
	b.openCause(1)
	body := `document.querySelector("#detail .right .whole").textContent.split("\n\n").pop()`
	b.expect("indented", body, `{
  "n": 12345678901234567890,
  "n": 1.0,
  "a": [],
  "s": "a\u00e9, {b: [c",
  "o": {
    "e": {},
    "l": [
      1,
      null
    ]
  }
}`)
	b.script(`document.querySelector("#detail details button").click()`)
	b.expect("as sent", body, sent)
	b.harmless()
}

func TestStreamsStandSideBySide(t *testing.T) {
	b := open(t, streams())
	b.openCause(1)
	b.expect("rows", `[...document.querySelectorAll("#detail table.events tbody tr")].map((r) => r.className + ":" + [...r.cells].map((c) => c.textContent.replace(/[0-9.]+ ms/, "")).join("|"))`,
		`[differs:added {"n":1}|≠|added {"n":9} missing:changed {"n":2}|−|— :removed {"n":3}|=|removed {"n":3} extra:—|+|more {"n":4}]`)
	b.harmless()
}

func TestAGreenRunHasNoEmptyDetail(t *testing.T) {
	b := open(t, green(), func(b *tab) { b.do(chromedp.EmulateViewport(1400, 900)) })
	b.expect("it is hidden", `document.querySelector("#detail").hidden`, true)
	b.expect("what was found", `document.querySelector("#count").innerText`, "Nothing was found.")
	b.harmless()
}

func TestListsThatAreCutSayWhatIsMissing(t *testing.T) {
	doc := streams()
	for id, evidence := range doc.Evidence {
		for i := range evidence.Timelines {
			line := &evidence.Timelines[i]
			line.Spans, line.Omitted = slices.Repeat(line.Spans[:1], 65), 3
		}
		doc.Evidence[id] = evidence
	}
	for n := range 120 {
		doc.Coverage.Operations = append(doc.Coverage.Operations, coverage.Operation{Method: "GET", Path: fmt.Sprint("/never/", n), Statuses: []coverage.Status{{Status: "200"}}})
	}
	b := open(t, doc)
	b.openCause(1)
	b.expect("the time line", `[...document.querySelectorAll("#detail svg text")].map((x) => x.textContent).filter((x) => x.startsWith("and ")).join()`, "and 8 more in run.jsonl,and 8 more in run.jsonl")
	b.expect("the operations", `document.querySelector("#coverage details").innerText.split("\n")[0].includes("never 120")`, true)
	b.expect("the last of them", `document.querySelector("#coverage details li:last-child").textContent`, "and 20 more: lockstep coverage lists them")
	b.harmless()
}

func TestEveryScenarioOpens(t *testing.T) {
	b := open(t, red())
	b.choose("verdict", "match")
	b.do(chromedp.Click("#scenarios tbody tr:first-child button"))
	b.expect("its steps", `[...document.querySelectorAll("tr.steps tbody tr")].map((r) => r.innerText.replace(/\s+/g, " "))`, "[4 POST /items 200 200 3.0 ms 7 GET /items/1 200 200 3.0 ms]")
	b.expect("the address names it", `location.hash`, "#verdict=match&scenario=fine%2F0")
	b.do(chromedp.Reload())
	b.until(`document.documentElement.dataset.ready === "yes"`)
	b.expect("it is open again", `document.querySelectorAll("tr.steps").length`, 1)
	b.harmless()
}

func TestThePageCanBeUsedWithoutAMouse(t *testing.T) {
	for _, width := range []int64{1400, 700} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			b := open(t, red(), func(b *tab) {
				b.do(chromedp.EmulateViewport(width, 900))
				call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
				for _, name := range []string{"clipboard-read", "clipboard-write"} {
					call(b, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{Permission: &cdpbrowser.PermissionDescriptor{Name: name}, Setting: cdpbrowser.PermissionSettingGranted})
				}
			})
			key := func(keys string) { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }
			focused := `[...document.querySelectorAll("#causes .cause")].indexOf(document.activeElement)`
			key("j")
			if width > 1000 {
				key("k")
			}
			b.expect("the first has the focus", focused, 0)
			key("j")
			b.expect("the second has the focus", focused, 1)
			key("\r")
			b.expect("it is in the address", `location.hash`, "#cause=bbbb")
			b.expect("the detail has the focus", `document.activeElement.id`, "detail")
			b.expect("it is that of the second", detail+`.includes("500 is not documented")`, true)
			b.expect("its beginning is in view", `(() => { const r = document.querySelector("#detail").getBoundingClientRect(); return r.top >= 0 && r.top < innerHeight })()`, true)
			key("c")
			b.until(`document.querySelector(".toast") !== null && document.querySelector(".toast").textContent === "copied"`)
			key("\x1b")
			b.expect("back in the list", focused, 1)
			key("\x1b")
			b.expect("nothing is selected", `location.hash`, "")
			key("/")
			b.expect("the filter has the keys", `document.activeElement.type`, "search")
			key("status")
			b.until(causes + " === 1")
			key("\x1b")
			key("x")
			b.expect("cleared", causes, 3)
			key("?")
			b.expect("keys are explained", `document.querySelector("dialog").open`, true)
			key("\x1b")
			key("t")
			b.expect("a theme is chosen", `["dark", "light"].includes(document.documentElement.dataset.theme)`, true)
			b.harmless()
		})
	}
}

func TestSinceTheRunBefore(t *testing.T) {
	b := open(t, changes())
	b.expect("the head of the page counts the changes", `document.querySelector(".since").innerText`, "since the run of yesterday: +1 new, 1 changed 1 fixed 5 unchanged findings")
	b.expect("causes come before the list", `document.querySelector("#findings").compareDocumentPosition(document.querySelector("#fixed")) & Node.DOCUMENT_POSITION_FOLLOWING`, 4.0)
	b.expect("the list is closed", `document.querySelector("#fixed").open`, false)
	b.script(`document.querySelectorAll(".since button")[1].click()`)
	b.expect("the fixed ones", `document.querySelector("#fixed li").innerText`, "items/many-0 GET /items/1: body /state: the values differ new")
	b.script(`document.querySelector(".since button").click()`)
	b.expect("only new and changed ones", causes, 2)
	b.expect("they are marked", `document.querySelectorAll("#causes .chip.new").length`, 2)
	b.harmless()
}

// The button of the head and the marks of the list agree when a cause of the earlier run is in one more scenario.
func TestAKnownCauseInOneMoreScenarioIsFoundByTheFilter(t *testing.T) {
	before, after := redIn(6), redIn(6)
	before.Scenarios[5].Findings, before.Scenarios[5].Verdict = nil, "match"
	after.Changes = report.ChangesSince(before, "the run of yesterday", after)
	b := open(t, after)
	b.expect("the head", `document.querySelector(".since button").innerText`, "+1 new")
	b.script(`document.querySelector(".since button").click()`)
	b.expect("causes", causes, 1)
	b.expect("the mark", `document.querySelector("#causes .chip.new").innerText`, "1 new")
	b.harmless()
}

func TestAVerdictInTheHeadIsAFilter(t *testing.T) {
	b := open(t, red())
	b.expect("nothing to clear", `document.querySelector("#clear").hidden`, true)
	b.do(chromedp.Click(".legend button.match"))
	b.expect("it is pressed", `document.querySelector(".legend button.match").ariaPressed`, "true")
	b.expect("scenarios", rows, 20)
	b.expect("causes", `document.querySelector("#count").innerText`, "No cause fits the filters.")
	b.expect("the scenarios are in view", `document.querySelector("#scenarios").getBoundingClientRect().top < innerHeight`, true)
	b.do(chromedp.Click("#clear"))
	b.expect("cleared", causes, 3)
	b.harmless()
}

// The list and the detail scroll on their own. Their ends are in the window without scrolling the page.
func TestTheEndOfTheDetailCanBeSeen(t *testing.T) {
	b := open(t, red(), func(b *tab) { b.do(chromedp.EmulateViewport(1400, 900)) })
	const bottom = `(() => { const d = document.querySelector("#detail"); d.scrollTop = d.scrollHeight; return d.lastElementChild.getBoundingClientRect().bottom <= innerHeight })()`
	b.expect("at the top of the page", bottom, true)
	b.script(`scrollTo(0, 200)`)
	b.until(`document.querySelector("#detail").getBoundingClientRect().bottom > innerHeight - 20`) // it uses the window
	b.expect("scrolled", bottom, true)
	b.harmless()
}

func TestBackLeadsToTheCauseBefore(t *testing.T) {
	b := open(t, red(), func(b *tab) { b.do(chromedp.EmulateViewport(390, 900)) })
	b.openCause(1)
	b.script(`document.querySelectorAll("#causes .cause")[1].click()`)
	b.expect("the second", `location.hash`, "#cause=bbbb")
	b.script(`history.back()`)
	b.until(`location.hash === "#cause=aaaa" && document.querySelector("#causes [aria-current]") === document.querySelector("#causes .cause")`)
	b.script(`history.back()`)
	b.until(`location.hash === "" && document.querySelector("#detail") === null`)
	b.harmless()
}

// layouts are how the page is looked at.
var layouts = []struct {
	name  string
	width int64
	media emulation.SetEmulatedMediaParams
}{
	{"wide", 1400, emulation.SetEmulatedMediaParams{}},
	{"split", 1100, emulation.SetEmulatedMediaParams{}},
	{"phone", 390, emulation.SetEmulatedMediaParams{}},
	{"dark", 1400, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}},
	{"print", 1100, emulation.SetEmulatedMediaParams{Media: "print"}},
}

// TestEveryLayoutIsAccessible checks that axe has no finding in any layout, and that nothing is wider than the window.
func TestEveryLayoutIsAccessible(t *testing.T) {
	axe, err := os.ReadFile("../../reference/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]func() *report.Document{"red": changes, "streams": streams, "socket": socket, "program": program, "green": green}
	for _, layout := range layouts {
		for name, doc := range pages {
			t.Run(layout.name+"/"+name, func(t *testing.T) {
				b := open(t, doc(), func(b *tab) {
					call(b, emulation.SetEmulatedMedia, layout.media)
					b.do(chromedp.EmulateViewport(layout.width, 900))
				})
				if name != "green" && layout.width < 1100 {
					b.openCause(1)
				}
				b.script(`for (const d of document.querySelectorAll("details")) d.open = true; document.querySelector("#scenarios button.plain").click()`)
				b.expect("nothing is wider than the window", `document.documentElement.scrollWidth <= innerWidth`, true)
				b.accessible(string(axe))
				b.harmless()
			})
		}
	}
}

// accessible checks that axe finds nothing.
func (b *tab) accessible(axe string) {
	b.t.Helper()
	b.script(axe)
	b.script(`window.axeResult = ""; axe.run().then((r) => {
		window.axeResult = JSON.stringify(r.violations.map((v) => [v.id, v.help, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary)])); })`)
	b.until(`window.axeResult !== ""`)
	b.expect("findings of axe", `window.axeResult`, "[]")
}

func TestTheSiteIsAccessible(t *testing.T) {
	axe, err := os.ReadFile("../../reference/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	var runs []report.Dated
	for i, doc := range []*report.Document{green(), redIn(6), changes(), redIn(2)} {
		doc.Started = doc.Started.AddDate(0, 0, i)
		runs = append(runs, report.Dated{Name: fmt.Sprintf("%d/report.json", i), Document: doc})
	}
	var index bytes.Buffer
	if err := html.Site(report.NewTrend(runs))[0].Write(&index); err != nil {
		t.Fatal(err)
	}
	for _, layout := range layouts {
		t.Run(layout.name, func(t *testing.T) {
			b := show(t, index.Bytes(), func(b *tab) {
				call(b, emulation.SetEmulatedMedia, layout.media)
				b.do(chromedp.EmulateViewport(layout.width, 900))
			})
			b.expect("nothing is wider than the window", `document.documentElement.scrollWidth <= innerWidth`, true)
			b.accessible(string(axe))
		})
	}
}

// changes is a run in which something is new, changed and fixed since an earlier one.
func changes() *report.Document {
	before, after := redIn(6), redIn(6)
	before.Scenarios[6].Findings[0].Fingerprint = "other"
	before.Scenarios[7].Findings, before.Scenarios[7].Verdict = nil, "match"
	after.Scenarios[0].Findings, after.Scenarios[0].Verdict = nil, "match"
	after.Changes = report.ChangesSince(before, "the run of yesterday", after)
	return after
}

func TestAHugeRunOpensAndFilters(t *testing.T) {
	doc := huge()
	var content bytes.Buffer
	began := time.Now()
	if err := html.Write(&content, doc); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	if content.Len() > 5<<20 {
		t.Errorf("the page has %d bytes", content.Len())
	}
	b := show(t, content.Bytes())
	b.expect("causes", causes, 100)
	measure := func(work string) float64 {
		return eval[float64](b, `(() => { const before = performance.now(); `+work+`; document.body.offsetHeight; return performance.now() - before; })()`)
	}
	press := func(key string) string {
		return fmt.Sprintf(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true}))`, key)
	}
	measure(press("j"))
	enter := measure(press("Enter"))
	b.expect("the detail is shown", `document.activeElement.id`, "detail")
	filter := measure(`const s = document.querySelector("[data-filter=verdict]"); s.value = "differ"; s.dispatchEvent(new Event("change"))`)
	ready := eval[float64](b, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`)
	paint := eval[float64](b, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`)
	t.Logf("%d bytes, written in %s, ready after %.0f ms, first paint after %.0f ms, Enter to detail %.1f ms, filtered in %.0f ms", content.Len(), took, ready, paint, enter, filter)
	b.harmless()
}

// pictures names a variable. When set, it is the folder for screenshots of runs.
const pictures = "LOCKSTEP_PICTURES"

func TestPictures(t *testing.T) {
	dir := os.Getenv(pictures)
	for name, doc := range map[string]*report.Document{"green": green(), "red": red(), "huge": huge(), "stream": streams(), "socket": socket(), "phone": red()} {
		b := open(t, doc)
		size := [2]int64{1400, 1100} // the same with every version of the browser
		if name == "phone" {
			size = [2]int64{390, 1100}
		}
		b.do(chromedp.EmulateViewport(size[0], size[1]))
		if name == "red" || name == "phone" {
			b.openCause(1)
		}
		if name == "socket" {
			b.script(`[...document.querySelectorAll("#detail h4")].find((h) => h.textContent.startsWith("around")).scrollIntoView(); scrollTo(0, 0)`)
		}
		png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if len(png) < 10_000 {
			t.Errorf("the picture of %s has %d bytes", name, len(png))
		}
		if dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "report-"+name+".png"), png, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
