package browser

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// shared is the one browser of all tests. Each test has its own tab.
var shared context.Context

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path, err := exec.LookPath("chromium")
	if err != nil {
		fmt.Fprintln(os.Stderr, "there is no chromium; `make test-browser` installs it")
		return 1
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1200, 1500))
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
	ctx, closeTab := chromedp.NewContext(shared)
	ctx, stop := context.WithTimeout(ctx, time.Minute) // guards against a browser that hangs
	t.Cleanup(func() { stop(); closeTab() })
	b := &tab{t: t, ctx: ctx}
	address := "file://" + (&url.URL{Path: file}).EscapedPath()
	if err := chromedp.Listen(ctx, func(ev any) {
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
	b.until(`document.documentElement.dataset.ready === "yes"`)
	return b
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
	groups  = `document.querySelectorAll("#groups > details").length`
	rows    = `document.querySelectorAll("#scenarios tbody tr").length`
	firstIs = `document.querySelector("#groups > details .what").textContent`
)

func (b *tab) openFirst() {
	b.t.Helper()
	b.openCause(1)
}

// openCause opens the n-th cause, counted from 1.
func (b *tab) openCause(n int) {
	b.t.Helper()
	b.do(chromedp.Click(fmt.Sprintf("#groups > details:nth-child(%d) > summary", n)))
	b.until(`document.querySelector("#groups .body") !== null`)
}

func (b *tab) choose(filter, value string) {
	b.t.Helper()
	b.script(fmt.Sprintf(`const s = document.querySelector('[data-filter=%s]'); s.value = %q; s.dispatchEvent(new Event("change"))`, filter, value))
}

func TestFindingsOfOneCauseAreOneLineAndFiltersNarrowThem(t *testing.T) {
	b := open(t, red())
	b.expect("causes", groups, 3)
	// One side is proven wrong in the first cause, so it comes before the one with more findings.
	for i, want := range []struct{ times, values string }{{"1×", "200 → 500"}, {"300×", `"done" → "finished"`}} {
		cause := fmt.Sprintf(`document.querySelectorAll("#groups > details")[%d]`, i)
		b.expect("findings of a cause", cause+`.querySelector(".times").textContent`, want.times)
		b.expect("values at a glance", cause+`.querySelector(".glance").textContent.trim()`, want.values)
	}

	b.choose("blame", "candidate")
	b.expect("blame", groups, 1)
	b.do(chromedp.Click("#clear"))
	b.choose("operation", "POST /items")
	b.expect("operation", groups, 1)
	b.do(chromedp.Click("#clear"))
	b.choose("tag", "odd")
	b.expect("tag", groups, 1)
	b.expect("scenarios of the tag", rows, 1)
	b.do(chromedp.Click("#clear"))
	b.choose("verdict", "match")
	b.expect("verdict", groups, 0)
	b.expect("scenarios that match", rows, 20)
	b.do(chromedp.Click("#clear"), chromedp.SendKeys(`input[type=search]`, "odd other"))
	b.until(groups + " === 1")
	b.expect("text", rows, 1)
	b.expect("the address has the filter", `location.hash`, "#text=odd%20other")
	b.do(chromedp.Reload())
	b.until(`document.documentElement.dataset.ready === "yes"`)
	b.expect("after reading it again", groups, 1)
	b.harmless()
}

func TestAConstantIsShownByTheScenariosThatItNeeds(t *testing.T) {
	constant := difference("body /build", `"a"`, `"b"`, "dddd", verdict.BlameNobody)
	constant.Kind, constant.With = "constant", []string{"items/two", "items/one", "odd[1 2]"}
	b := open(t, document(scenario("items/one", nil), scenario("items/two", nil, constant), scenario("odd[1 2]", nil)))
	b.openFirst()
	b.expect("how to do it again", `document.querySelector("#groups [data-copy]").textContent`, "lockstep run items/two items/one 'odd[1 2]'")
}

func TestAFindingShowsItsEvidence(t *testing.T) {
	b := open(t, red())
	b.openCause(2)
	body := eval[string](b, `document.querySelector("#groups .body").textContent`)
	for _, want := range []string{
		`"done"`, `"finished"`, "neither side breaks it", `"title": "one"`, "- http: GET /items/1", "lockstep run items/many-0",
		"lockstep run items/many-0 --target new", `curl -i --path-as-is "$URL"'/items/1'`, "header Content-Type is compared", "300 places",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("it does not say %q:\n%s", want, body)
		}
	}
	b.expect("the part that differs", `document.querySelector("#groups .left mark").textContent`, "done")
	b.expect("the member it is about", `document.querySelector("#groups .focus").textContent.trim()`, `"state": "done"`)
	b.expect("lanes of the time line", `document.querySelectorAll("#groups svg rect.left:not(.here)").length`, 3)
	b.expect("events on it", `document.querySelectorAll("#groups svg line.event").length`, 4)
	b.expect("the step that it is about", `document.querySelectorAll("#groups svg rect.here").length`, 2)
	b.harmless()
}

func TestThePageCanBeUsedWithoutAMouse(t *testing.T) {
	b := open(t, red(), func(b *tab) {
		call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		for _, name := range []string{"clipboard-read", "clipboard-write"} {
			call(b, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{Permission: &cdpbrowser.PermissionDescriptor{Name: name}, Setting: cdpbrowser.PermissionSettingGranted})
		}
	})
	key := func(keys string) { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }
	key("j")
	key("j")
	b.expect("the second is chosen", `[...document.querySelectorAll("#groups > details")].findIndex((d) => d.classList.contains("here"))`, 1)
	key("k")
	key("o")
	b.expect("the first is open", `document.querySelector("#groups > details").open`, true)
	key("c")
	b.until(`document.querySelector(".toast") !== null && document.querySelector(".toast").textContent === "copied"`)
	key("/")
	b.expect("the filter has the keys", `document.activeElement.type`, "search")
	key("status")
	b.until(groups + " === 1")
	key("\x1b")
	key("x")
	b.expect("cleared", groups, 3)
	key("?")
	b.expect("keys are explained", `document.querySelector("dialog").open`, true)
	key("\x1b")
	key("t")
	b.expect("a theme is chosen", `["dark", "light"].includes(document.documentElement.dataset.theme)`, true)
	b.harmless()
}

func TestDarkAndSmall(t *testing.T) {
	b := open(t, red(), func(b *tab) {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		b.do(chromedp.EmulateViewport(375, 700))
	})
	b.expect("dark", `getComputedStyle(document.body).backgroundColor`, "rgb(20, 23, 28)")
	b.openFirst()
	b.expect("nothing is wider than a phone", `document.documentElement.scrollWidth <= innerWidth`, true)
	b.harmless()
}

func TestSinceTheRunBefore(t *testing.T) {
	before, after := red(), red()
	before.Scenarios[300].Findings[0].Fingerprint = "other"
	before.Scenarios[301].Findings, before.Scenarios[301].Verdict = nil, "match"
	after.Scenarios[0].Findings, after.Scenarios[0].Verdict = nil, "match"
	after.Changes = report.ChangesSince(before, "the run of yesterday", after)
	b := open(t, after)
	text := eval[string](b, `document.querySelector("#changes").innerText`)
	for _, want := range []string{"Since the run of yesterday", "1 new", "odd/other", "1 changed", "odd/status", "1 fixed", "299 unchanged"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	b.expect("the head of the page counts the changes", `document.querySelector(".since").innerText`, "since the run of yesterday +1 new 1 changed 1 fixed")
	b.expect("causes come before the list of changes", `document.querySelector("#findings").compareDocumentPosition(document.querySelector("#changes")) & Node.DOCUMENT_POSITION_FOLLOWING`, 4.0)
	b.expect("what is new comes first", firstIs+`.includes("status") || `+firstIs+`.includes("/n")`, true)
	b.harmless()
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
	b.expect("causes", groups, 100)
	filter := eval[float64](b, `(() => { const before = performance.now(); const s = document.querySelector("[data-filter=verdict]");
		s.value = "differ"; s.dispatchEvent(new Event("change")); document.body.offsetHeight; return performance.now() - before; })()`)
	ready := eval[float64](b, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`)
	t.Logf("%d bytes, written in %s, ready after %.0f ms, filtered in %.0f ms", content.Len(), took, ready, filter)
	b.harmless()
}

// pictures names a variable. When set, it is the folder for screenshots of runs: green, red and huge.
const pictures = "LOCKSTEP_PICTURES"

func TestPictures(t *testing.T) {
	dir := os.Getenv(pictures)
	for name, doc := range map[string]*report.Document{"green": green(), "red": red(), "huge": huge()} {
		b := open(t, doc)
		b.do(chromedp.EmulateViewport(1200, 1361)) // the same size with every version of the browser
		if name == "red" {
			b.openCause(2) // the one in 300 scenarios
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
