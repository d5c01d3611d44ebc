package prices_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/prices"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// A rig has prices whose list comes from a function, in a bubble of synctest.
type rig struct {
	*prices.Prices
	t        *testing.T
	answer   func(r *http.Request) (status int, body io.Reader, err error)
	requests []*http.Request
	tasks    *turn.Background
	log      *syncbuffer.Buffer
	dir      string
}

func (r *rig) RoundTrip(request *http.Request) (*http.Response, error) {
	r.requests = append(r.requests, request)
	status, body, err := r.answer(request)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(body), Request: request}, nil
}

const address = "https://prices.test/secret-list?x=%41"

// inBubble runs a test on prices with a directory.
func inBubble(t *testing.T, address string, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, log: new(syncbuffer.Buffer), dir: filepath.Join(t.TempDir(), "cache")}
		log := slog.New(slog.NewTextHandler(r.log, nil))
		r.tasks = turn.NewBackground(log)
		defer r.tasks.Close()
		r.Prices = prices.New(prices.Options{Address: address, Directory: r.dir, Transport: r, Go: r.tasks.Go, Log: log})
		r.says(200, listOf("a/b", "1"))
		test(t, r)
	})
}

// says makes the upstream answer with a body from now on.
func (r *rig) says(status int, body string) {
	r.answer = func(*http.Request) (int, io.Reader, error) { return status, strings.NewReader(body), nil }
}

// hangs makes the upstream not answer before the request is cancelled.
func (r *rig) hangs() {
	r.answer = func(request *http.Request) (int, io.Reader, error) {
		<-request.Context().Done()
		return 0, nil, request.Context().Err()
	}
}

// has checks what All returns, after how long, and the number of requests so far.
func (r *rig) has(want string, after time.Duration, requests int) {
	r.t.Helper()
	begun := time.Now()
	got := show(all(r.t, r.All(r.t.Context())))
	took := time.Since(begun)
	synctest.Wait()
	if got != want || took != after || len(r.requests) != requests {
		r.t.Errorf("%q after %s and %d requests; want %q after %s and %d", got, took, len(r.requests), want, after, requests)
	}
}

// sleep lets time pass, and waits for what happens until then.
func (r *rig) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) file() string { return filepath.Join(r.dir, "pricing_cache.json") }

// write writes a file with one price, that is of some time ago.
func (r *rig) write(model string, ago time.Duration) {
	r.t.Helper()
	testfile.Write(r.t, r.file(), fmt.Sprintf(`{"pricing":{"file":{%q:{"input_cost":2,"output_cost":3}}},"fetched_at":%d}`, model, time.Now().Add(-ago).Unix()))
}

// all returns the prices in a response.
func all(t *testing.T, text jsonwire.Text) []api.PricingData {
	t.Helper()
	var response api.PricingResponse
	if err := jsonwire.Unmarshal(text, &response); err != nil || response.Source != "openrouter" {
		t.Errorf("%.200s: %v", text, err)
	}
	return response.Pricing
}

func show(prices []api.PricingData) string {
	var list []string
	for _, p := range prices {
		list = append(list, fmt.Sprintf("%s/%s=%v", p.Provider, p.Model, p.InputTokenCost))
	}
	return strings.Join(list, " ")
}

func listOf(id, prompt string) string {
	return fmt.Sprintf(`{"data":[{"id":%q,"pricing":{"prompt":%q,"completion":"0"}}]}`, id, prompt)
}

// TestTheAddressOfTheList checks decision G67.
func TestTheAddressOfTheList(t *testing.T) {
	for given, want := range map[string]string{
		"":                              "https://openrouter.ai/api/v1/models",
		"http://h.test/p?x=%41&y":       "http://h.test/p?x=%41&y",
		"HTTPS://h.test:8080":           "https://h.test:8080",
		"https://[::1]:65535/~a'b%C3?c": "https://[::1]:65535/~a'b%C3?c",
		"none":                          "",
		"http://canary@h.test/":         "",
		"http://:canary@h.test/":        "",
		"http://canary:canary@h.test/":  "",
		"ftp://h.test/canary":           "",
		"http:///canary":                "",
		"http://:80/canary":             "",
		"h.test/canary":                 "",
		"http://h.test/\ncanary":        "",
		"https://openrouter.ai%zz/cana": "",
		"http://@h.test/canary":         "",
		"http://h.test:65536/canary":    "",
		"http://h.test:/canary":         "",
		"http://hé.test/canary":         "",
		"http://[::g]/canary":           "",
		"http://h.test/canary b":        "",
		"http://h.test/canary ":         "",
		"http://h.test/canary/é":        "",
		"http://h.test/canary?a=%4":     "",
		"http://h.test/canary?a[]":      "",
		"http://h.test/canary?a|b":      "",
		"http://h.test/canary\\b":       "",
		"http://h.test/canary#part":     "",
	} {
		inBubble(t, given, func(t *testing.T, r *rig) {
			if want == "" {
				r.has("", 0, 0)
				if said := r.log.String(); strings.Contains(said, "cana") || strings.Count(said, "\n") > 1 || (said == "") != (given == "none") {
					t.Errorf("%q: the log has %q", given, said)
				}
				return
			}
			r.has("a/b=1", 0, 1)
			got := r.requests[0]
			if body, _ := io.ReadAll(got.Body); got.Method != "GET" || got.URL.String() != want || len(got.Header) > 0 || len(body) > 0 {
				t.Errorf("%q: %s %s with %v, %q; want GET %s", given, got.Method, got.URL, got.Header, body, want)
			}
			if r.log.String() != "" {
				t.Errorf("%q: the log has %q", given, r.log)
			}
		})
	}
}

// TestPricesAreFetchedOnceADay checks decisions G69 and G70.
func TestPricesAreFetchedOnceADay(t *testing.T) {
	inBubble(t, address, func(t *testing.T, r *rig) {
		r.has("a/b=1", 0, 1)
		r.says(200, listOf("a/b", "2"))
		r.sleep(24*time.Hour - time.Second)
		r.has("a/b=1", 0, 1)
		r.sleep(time.Second)
		r.has("a/b=1", 0, 2)
		r.has("a/b=2", 0, 2)

		r.says(500, "")
		r.sleep(7*24*time.Hour - time.Second)
		r.has("a/b=2", 0, 3)
		r.sleep(time.Second)
		if got := show(r.Configured(nil)); got != "" {
			t.Errorf("of no provider: %q", got)
		}
		r.has("", 0, 3)
	})
}

// TestTheNewerListIsInUse checks decision G69.
func TestTheNewerListIsInUse(t *testing.T) {
	inBubble(t, address, func(t *testing.T, r *rig) {
		r.write("old", 7*24*time.Hour)
		r.has("a/b=1", 0, 1)
		r.write("earlier", time.Second)
		r.has("a/b=1", 0, 1)
		r.write("same time", 0)
		r.has("file/same time=2", 0, 1)
		r.write("future", -time.Second)
		r.has("a/b=1", 0, 1)
		testfile.Remove(t, r.file())
		r.has("a/b=1", 0, 1)
		r.sleep(6 * 24 * time.Hour)
		r.write("later", time.Hour)
		r.has("file/later=2", 0, 1)
	})
}

// TestAFailedFetchIsRepeatedAfterAMinute checks decision G70.
func TestAFailedFetchIsRepeatedAfterAMinute(t *testing.T) {
	inBubble(t, address, func(t *testing.T, r *rig) {
		r.says(503, "")
		r.has("", 0, 1)
		r.sleep(time.Minute - 1)
		r.has("", 0, 1)
		r.says(200, listOf("a/b", "1"))
		r.sleep(1)
		r.has("a/b=1", 0, 2)
	})
}

// TestASilentList checks decisions G67 and G70: requests share the fetch, wait at most 1 s, and it ends after 30 s.
func TestASilentList(t *testing.T) {
	inBubble(t, address, func(t *testing.T, r *rig) {
		begun := time.Now()
		var ended time.Duration
		r.answer = func(request *http.Request) (int, io.Reader, error) {
			<-request.Context().Done()
			ended = time.Since(begun)
			return 0, nil, request.Context().Err()
		}
		r.has("", time.Second, 1)
		r.has("", time.Second, 1)
		gone, leave := context.WithTimeout(t.Context(), time.Second/2)
		defer leave()
		if r.All(gone); time.Since(begun) != 2500*time.Millisecond {
			t.Errorf("a client that has gone keeps its request until %s", time.Since(begun))
		}
		r.sleep(time.Minute)
		if ended != 30*time.Second || !strings.Contains(r.log.String(), "reason=timeout") {
			t.Errorf("the fetch ended after %s, want 30 s: %s", ended, r.log)
		}
		r.write("x", 25*time.Hour)
		r.hangs()
		r.has("file/x=2", 0, 1) // 29.5 s after the failure
		r.sleep(time.Minute)
		r.has("file/x=2", 0, 2)
	})
}

// TestALateListIsKept checks decision G70.
func TestALateListIsKept(t *testing.T) {
	inBubble(t, address, func(t *testing.T, r *rig) {
		r.answer = func(*http.Request) (int, io.Reader, error) {
			time.Sleep(29 * time.Second)
			return 200, strings.NewReader(listOf("a/b", "1")), nil
		}
		r.has("", time.Second, 1)
		r.sleep(time.Minute)
		if text, want := testfile.Text(t, r.file()), fmt.Sprintf(`{"pricing":{"a":{"b":{"input_cost":1,"output_cost":0,"context_length":null}}},"fetched_at":%d}`+"\n",
			time.Now().Add(-32*time.Second).Unix()); text != want {
			t.Errorf("the file has %s\nwant %s", text, want)
		}
		r.has("a/b=1", 0, 1)
	})
}

// TestAStopEndsTheFetch checks decision G70.
func TestAStopEndsTheFetch(t *testing.T) {
	for name, atEnd := range map[string]error{"without an answer": io.EOF, "with an answer": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, address, func(t *testing.T, r *rig) {
				r.answer = func(request *http.Request) (int, io.Reader, error) {
					<-request.Context().Done()
					return 200, strings.NewReader(listOf("a/b", "1")), atEnd
				}
				time.AfterFunc(time.Second/2, r.tasks.Close)
				r.has("", time.Second/2, 1)
				r.has("", 0, 1)
				if _, err := os.Stat(r.dir); err == nil || r.log.String() != "" {
					t.Errorf("there is a directory, or a line in the log: %q", r.log)
				}
			})
		})
	}
}

// TestWhyPricesAreNotFetched checks decision G67: the log has one line, with neither the address nor text of the response.
func TestWhyPricesAreNotFetched(t *testing.T) {
	large := listOf("a/b", "1") + strings.Repeat(" ", 16<<20-len(listOf("a/b", "1")))
	for name, tc := range map[string]struct {
		status int
		body   io.Reader
		err    error
		reason string // "" if there is a list
	}{
		"status":        {404, strings.NewReader("canary"), nil, "404 Not Found"},
		"status first":  {503, silent{}, nil, "503 Service Unavailable"},
		"redirect":      {302, strings.NewReader(listOf("a/b", "1")), nil, "302 Found"},
		"no connection": {0, nil, errors.New("dial prices.test: canary"), "connection_error"},
		"cut":           {200, io.MultiReader(strings.NewReader(`{"data":["canary"`), brokenReader{}), nil, "the answer cannot be read"},
		"not JSON":      {200, strings.NewReader(`canary`), nil, "the answer cannot be read"},
		"not UTF-8":     {200, strings.NewReader("{\"canary\":\"\xff\",\"data\":[]}"), nil, "the answer cannot be read"},
		"no list":       {200, strings.NewReader(`{"data":"canary"}`), nil, "the response is not an object with the array data"},
		"an array":      {200, strings.NewReader(`["canary"]`), nil, "the response is not an object with the array data"},
		"16 MiB":        {200, strings.NewReader(large), nil, ""},
		"more":          {200, strings.NewReader(large + " "), nil, "the answer is too long"},
		"endless":       {200, endless{}, nil, "the answer is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, address, func(t *testing.T, r *rig) {
				r.answer = func(*http.Request) (int, io.Reader, error) { return tc.status, tc.body, tc.err }
				if tc.reason == "" {
					r.has("a/b=1", 0, 1)
				} else {
					r.has("", 0, 1)
				}
				said := r.log.String()
				_, reason, _ := strings.Cut(said, `msg="prices not fetched" reason=`)
				if strings.Trim(reason, "\"\n") != tc.reason || strings.Contains(said, "canary") || strings.Contains(said, "prices.test") || strings.Count(said, "\n") > 1 {
					t.Errorf("the log has %q, want %q", said, tc.reason)
				}
			})
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("canary") }

// silent never reads anything.
type silent struct{}

func (silent) Read([]byte) (int, error) { select {} }

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestAFileThatWouldBeTooLargeIsNotWritten checks decision G69. The list is as large as it may be, and the file somewhat larger.
func TestAFileThatWouldBeTooLargeIsNotWritten(t *testing.T) {
	inBubble(t, address, func(t *testing.T, r *rig) {
		r.says(200, listOf("a/"+strings.Repeat("b", 16<<20-len(listOf("a/", "1"))), "1"))
		for range 2 {
			if got := all(t, r.All(t.Context())); len(got) != 1 || len(r.requests) != 1 {
				t.Errorf("%d prices, %d requests", len(got), len(r.requests))
			}
		}
		if _, err := os.Stat(r.file()); err == nil || strings.Count(r.log.String(), "prices not written") != 1 || len(r.log.String()) > 1000 {
			t.Errorf("%v; the log has %.1000s", err, r.log)
		}
	})
}

// TestWhatTheFileMayHave checks decision G69, where scenarios cannot.
func TestWhatTheFileMayHave(t *testing.T) {
	const price = `{"input_cost":1,"output_cost":1}`
	for text, want := range map[string]string{
		`{"pricing":{"a":{"x":` + price + `},"a":{"y":` + price + `}},"fetched_at":NOW}`:                                  "a/y=1",
		`{"pricing":{"a":{"x":` + price + `,"x":{"input_cost":2,"output_cost":2}}},"fetched_at":NOW}`:                     "a/x=2",
		`{"pricing":{"a":{"x":` + price + `,"x":{"input_cost":-1,"output_cost":1}}},"fetched_at":NOW}`:                    "",
		`{"pricing":{"a":{"x":{"input_cost":-0,"output_cost":0},"y":{"input_cost":0,"output_cost":0}}},"fetched_at":NOW}`: "a/y=0",
		`{"pricing":{"a":{"x":{"input_cost":-1e-999,"output_cost":0}}},"fetched_at":NOW}`:                                 "",
		`{"pricing":{"a":{"x":` + price + `}},"fetched_at":9223372036854775807}`:                                          "",
		`{"pricing":{"a":{"x":` + price + `}},"fetched_at":-9223372036854775808}`:                                         "",
		`{"pricing":{"a":{"x":` + price + `}},"fetched_at":NOW,"fetched_at":NOW}`:                                         "",
		"\ufeff" + `{"pricing":{"a":{"x":` + price + `}},"fetched_at":NOW}`:                                               "",
		`{"pricing":{"a":{"x":` + price + `,"\ud800":` + price + `}},"fetched_at":NOW}`:                                   "",
	} {
		inBubble(t, "none", func(t *testing.T, r *rig) {
			text := strings.ReplaceAll(text, "NOW", fmt.Sprint(time.Now().Unix()))
			testfile.Write(t, r.file(), text)
			if got := show(all(t, r.All(t.Context()))); got != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		})
	}
}

// TestTheNamesOfAllPricesAreBounded checks decision G69: a short file could have a long response.
func TestTheNamesOfAllPricesAreBounded(t *testing.T) {
	inBubble(t, "none", func(t *testing.T, r *rig) {
		for length, want := range map[int]int{1<<20 - 1: 16, 1 << 20: 0} {
			var models []string
			for n := range 16 {
				models = append(models, fmt.Sprintf(`"%x":{"input_cost":1,"output_cost":1}`, n))
			}
			testfile.Write(t, r.file(), fmt.Sprintf(`{"pricing":{%q:{%s}},"fetched_at":%d}`, strings.Repeat("p", length), strings.Join(models, ","), time.Now().Unix()))
			if got := all(t, r.All(t.Context())); len(got) != want {
				t.Errorf("a name of %d bytes: %d prices, want %d", length, len(got), want)
			}
		}
	})
}

func TestRequestsShareTheirResponse(t *testing.T) {
	inBubble(t, address, func(t *testing.T, r *rig) {
		r.has("a/b=1", 0, 1)
		share := func(what string) {
			if one, other := r.All(t.Context()), r.All(t.Context()); &one[0] != &other[0] {
				t.Errorf("two requests for the same %s have responses of their own", what)
			}
		}
		share("file")
		testfile.Remove(t, r.file())
		share("fetched list")
	})
}

func TestAFileThatCannotBeReadIsLoggedOnce(t *testing.T) {
	inBubble(t, "none", func(t *testing.T, r *rig) {
		for i, text := range []string{"{", "[]"} {
			testfile.Write(t, r.file(), text)
			r.has("", 0, 0)
			r.has("", 0, 0)
			if got := strings.Count(r.log.String(), "prices not read"); got != i+1 {
				t.Errorf("after %s, the log has %d lines: %s", text, got, r.log)
			}
		}
		r.write("x", 0)
		r.has("file/x=2", 0, 0)
		if got := strings.Count(r.log.String(), "\n"); got != 2 {
			t.Errorf("the log has %d lines: %s", got, r.log)
		}
	})
}

// TestPricesOfConfiguredProviders checks decision G71.
func TestPricesOfConfiguredProviders(t *testing.T) {
	inBubble(t, address, func(t *testing.T, r *rig) {
		testfile.Write(t, r.file(), fmt.Sprintf(`{"pricing":{"openrouter":{"auto":{"input_cost":9,"output_cost":9}},"ollama":{"m":{"input_cost":1,"output_cost":1}},
			"mine":{"M":{"input_cost":2,"output_cost":2}}},"fetched_at":%d}`, time.Now().Add(-48*time.Hour).Unix()))
		details := func(name string, configured bool, models string) llm.Details {
			return llm.Details{Name: name, IsConfigured: configured, Metadata: jsonwire.Text(`{"known_models":[` + models + `]}`)}
		}
		got := show(r.Configured([]llm.Details{
			details("openrouter", true, `{"name":"auto"},{"name":"Meta-Llama/m"},{"name":"meta-llama/m"}`),
			details("Mine", true, `{"name":"m"},{"name":"M"},{"name":"M"}`),
			details("mine", false, `{"name":"M"}`),
			details("OpenRouter", true, `{"name":"auto"},{"name":"meta-llama/m"}`),
		}))
		synctest.Wait()
		if want := "openrouter/meta-llama/m=1 Mine/M=2 Mine/M=2 OpenRouter/auto=9"; got != want || len(r.requests) > 0 {
			t.Errorf("%s with %d requests; want %s with none", got, len(r.requests), want)
		}
	})
}
