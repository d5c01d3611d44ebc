package browser

import (
	_ "embed"
	"fmt"
	"maps"

	"net"
	"net/http"
	"net/http/httptest"
	"net/url"

	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

//go:embed testdata/attempts.js
var attempts string

// at replaces the host of an address and keeps its port.
func at(host, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	u.Host = net.JoinHostPort(host, u.Port())
	return u.String()
}

// evaluate calls an asynchronous function in a page, and waits for its result.
func evaluate[T any](b *tab, function string, args ...string) T {
	b.t.Helper()
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = fmt.Sprintf("%q", arg)
	}
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T]("("+function+")("+strings.Join(quoted, ", ")+")", chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// goTo opens a page, and returns the statuses of what its scripts request from then on, preflights included.
func goTo(t *testing.T, address string) (*tab, <-chan string) {
	t.Helper()
	b := newTab(t)
	b.do(chromedp.Navigate(address))
	statuses := make(chan string, 100)
	requested, answered := map[network.RequestID]string{}, map[network.RequestID]int64{}
	both := func(id network.RequestID) { // its two events come in any order
		to, status := requested[id], answered[id]
		if status != 0 && to != "" && !strings.HasSuffix(to, "/favicon.ico") {
			statuses <- fmt.Sprint(status)
		}
	}
	if err := chromedp.Listen(b.ctx, func(ev any) {
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			requested[ev.RequestID] = ev.Request.URL
			both(ev.RequestID)
		case *network.EventResponseReceivedExtraInfo:
			answered[ev.RequestID] = ev.StatusCode
			both(ev.RequestID)
		case *network.EventWebSocketFrameError:
			statuses <- ev.ErrorMessage
		}
	}); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	return b, statuses
}

// servePages serves an empty page and the client library, as its package has it.
func servePages(t *testing.T) string {
	t.Helper()
	library := http.FileServer(http.Dir("../../sdk/ts/dist"))
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			return
		}
		library.ServeHTTP(w, r)
	}))
	t.Cleanup(pages.Close)
	return pages.URL
}

const (
	echo   = `{"client_owner_echo":{"id":"client_owner_echo","description":"Echoes","parameters":{"type":"object"}}}`
	hello  = `{"type":"server.connected","properties":{}}`
	origin = `403 {"error":{"code":"PERMISSION_DENIED","message":"Origin not allowed"}}`
	host   = `403 {"error":{"code":"PERMISSION_DENIED","message":"Host not allowed"}}`
)

// served is what a page gets that may use the client tools.
var served = map[string]string{
	"list":                  "200 " + echo,
	"register":              `200 {"registered":["client_page_spy"]}`,
	"execute":               `200 {"status":"success","title":"echo","output":"page"}`,
	"unregister":            `200 {"success":true,"unregistered":["client_owner_echo"]}`,
	"pending":               "200",
	"pending, unseen":       "opaque", // refused: a page that may read the stream has no need of it
	"event, by fetch":       "200 data: " + hello + "\n\n",
	"event, by EventSource": hello,
	"websocket":             "open",
}

// cut is what a page of another origin gets: the browser tells it nothing about a refusal without CORS headers.
var cut = map[string]string{
	"list":                  "TypeError",
	"register":              "TypeError",
	"register, unseen":      "opaque",
	"execute":               "TypeError",
	"execute, unseen":       "opaque",
	"unregister":            "TypeError",
	"pending":               "TypeError",
	"pending, unseen":       "opaque",
	"event, by fetch":       "TypeError",
	"event, by EventSource": "error",
	"websocket":             "close",
}

// refused is what a page gets under a name that it has pointed to this machine: to the browser, the server is its own.
var refused = map[string]string{
	"list":                  host,
	"register":              origin, // browsers send an Origin with all but GET and HEAD
	"register, unseen":      "basic",
	"execute":               origin,
	"execute, unseen":       "basic",
	"unregister":            origin,
	"pending":               host,
	"pending, unseen":       "basic",
	"event, by fetch":       host,
	"event, by EventSource": "error",
	"websocket":             "close",
}

func TestAPageOfAnotherOriginCannotUseClientTools(t *testing.T) {
	pages := servePages(t)
	eachServer(t, func(t *testing.T, a *agent) { nothingWorks(t, a, at("evil.example", pages), a.url, cut) })
}

func TestAPageThatRebindsItsNameCannotUseClientTools(t *testing.T) {
	// The page is /status, which has no secrets and is served under every name.
	eachServer(t, func(t *testing.T, a *agent) {
		page := at("rebound.example", a.url)
		nothingWorks(t, a, page+"/status", page, refused)
	})
}

// nothingWorks opens a page that tries everything, and checks that the server has refused each request and done nothing.
func nothingWorks(t *testing.T, a *agent, page, server string, want map[string]string) {
	t.Helper()
	o := a.offer()
	b, statuses := goTo(t, page)
	if diff := cmp.Diff(want, evaluate[map[string]string](b, attempts, server)); diff != "" {
		t.Errorf("what the page got (-want +got):\n%s", diff)
	}
	for range want {
		if status := b.next(statuses); !strings.Contains(status, "403") {
			t.Errorf("the server answered %s, want 403", status)
		}
	}
	if got := a.call("client_owner_echo", map[string]string{"from": "test"}); !strings.Contains(got, `"output":"test"`) {
		t.Errorf("a call by a program: %s", got)
	}
	if tools, callers := a.tools(), o.callers(); tools != "client_owner_echo" || callers != "test" {
		t.Errorf("registered: %q, called by %q; want the owner's tool, called by the test", tools, callers)
	}
}

// Pages of this machine can do everything, so the tests above can fail.
func TestAPageOfThisMachineCanUseClientTools(t *testing.T) {
	pages := servePages(t)
	test := func(t *testing.T, a *agent, page, server, unseen string) {
		o := a.offer()
		b, _ := goTo(t, page)
		want := maps.Clone(served)
		want["register, unseen"], want["execute, unseen"], want["pending, unseen"] = unseen, unseen, unseen
		if diff := cmp.Diff(want, evaluate[map[string]string](b, attempts, server)); diff != "" {
			t.Errorf("what the page got (-want +got):\n%s", diff)
		}
		if tools, callers := a.tools(), o.callers(); tools != "client_page_spy" || callers != "page unseen" {
			t.Errorf("registered: %q, called by %q; want the page's tool instead of the owner's, and both calls of the page", tools, callers)
		}
	}
	t.Run("of another port", func(t *testing.T) {
		eachServer(t, func(t *testing.T, a *agent) { test(t, a, at("localhost", pages), a.url, "opaque") })
	})
	t.Run("of the server", func(t *testing.T) {
		eachServer(t, func(t *testing.T, a *agent) {
			page := at("localhost", a.url)
			test(t, a, page+"/status", page, "basic")
		})
	})
}

// next waits for what a page's request gets.
func (b *tab) next(statuses <-chan string) string {
	b.t.Helper()
	select {
	case status := <-statuses:
		return status
	case <-b.ctx.Done():
		b.t.Fatal("the server has not answered each request of the page")
		return ""
	}
}

// connect runs the client library in a page until its stream is open, and leaves it in the variable client.
const connect = `async (baseUrl, transport) => {
	const { createClient } = await import("/index.js")
	let opened
	const open = new Promise((resolve) => (opened = resolve))
	globalThis.errors = []
	globalThis.client = createClient({
		baseUrl, transport, secretKey: "test", onError: (error) => errors.push(String(error)),
		logger: { debug: (message) => message === "stream open" && opened(), warn: (message) => errors.push(message) },
	})
	const number = { type: "number" }
	const sum = { description: "Adds", parameters: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] } }
	await client.tools.register("add", sum, async ({ a, b }, { progress }) => {
		await progress(1, { total: 2 })
		return { title: "Sum", output: String(a + b), metadata: { from: location.origin } }
	})
	await client.tools.connect()
	await open
	await client.tools.register("fail", { description: "Fails", parameters: {} }, () => { throw new Error("no such number") })
	return client.clientID
}`

func TestTheClientLibraryRunsInAPage(t *testing.T) {
	page := at("tools.example", servePages(t))
	for _, transport := range []string{"sse", "websocket"} {
		t.Run(transport, func(t *testing.T) {
			eachServer(t, func(t *testing.T, a *agent) { libraryRuns(t, a, page, transport) }, "--allow-origin", page)
		})
	}
}

func libraryRuns(t *testing.T, a *agent, page, transport string) {
	events := a.stream("/event")
	b, _ := goTo(t, page)
	id := evaluate[string](b, connect, a.url, transport)
	add := "client_" + id + "_add"
	if got, want := a.tools(), add+" client_"+id+"_fail"; got != want {
		t.Errorf("registered: %q, want %q", got, want)
	}
	if got, want := a.call(add, map[string]int{"a": 2, "b": 40}), `{"status":"success","title":"Sum","output":"42","metadata":{"from":"`+page+`"}}`; got != want {
		t.Errorf("the result: %s, want %s", got, want)
	}
	events.until(`"client-tool.progress"`, `"total":2`)
	evaluate[any](b, `() => client.tools.disconnect()`)
	events.until(`"client-tool.unregistered"`, add)
	if got := a.tools(); got != "" {
		t.Errorf("registered after disconnect: %q", got)
	}
	b.expect("errors", `errors.join()`, "")
}
