package run

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An exporter is a server that exports what its clients send it: the body of a request, to the path of its query, as
// often as the query says. It sends an export that is not accepted again, twice.
type exporter struct {
	collector *http.Client
	late      time.Duration // pause between its response and its export; 0: it exports before it responds
}

func (e *exporter) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	to, contentType := r.URL.Query().Get("to"), r.Header.Get("Content-Type")
	export := func() {
		for range 3 {
			resp, err := e.collector.Post("http://memory"+to, contentType, bytes.NewReader(body))
			if err != nil {
				continue
			}
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
	}
	if e.late == 0 {
		export()
		return
	}
	time.AfterFunc(e.late, export)
}

// exported runs a story on two servers that each export to a collector, with a fake clock.
func exported(t *testing.T, text string, late [2]time.Duration, check func(t *testing.T, took time.Duration, ts ...*transcript.Transcript)) {
	t.Helper()
	callUpstreams(t, "isolate: fresh\n"+text, "otel", stub.OTLP, func(i int, collector *http.Client) http.Handler { return &exporter{collector, late[i]} }, check)
}

// exportedSpan is an export of one span, without a parent if parent is 0.
func exportedSpan(name string, id, parent int) string {
	more := ""
	if parent > 0 {
		more = fmt.Sprintf(`, parentSpanId: b7ad6b716920333%d, flags: 256`, parent)
	}
	return fmt.Sprintf(`{http: "POST /a", query: {to: /v1/traces}, json: {resourceSpans: [{scopeSpans: [{spans: [{traceId: 0af7651916cd43dd8448eb211c80319c, spanId: b7ad6b716920333%d, name: %s%s}]}]}]}}`, id, name, more)
}

// bodies returns one text for each request to a stub: its step and its body.
func bodies(t *transcript.Transcript) (out []string) {
	for _, s := range t.Upstream {
		for _, x := range s.Exchanges {
			text := s.ID + ": " + string(x.Request.Body.Bytes)
			if x.Unanswered != "" {
				text += " (" + x.Unanswered + ")"
			}
			out = append(out, text)
		}
	}
	return out
}

func TestExportsAreComparedAsItems(t *testing.T) {
	text := `
stubs:
  otel:
    - {name: outer, when: {json: {$.span: outer}}}
    - {name: rest, when: {absent: [$.span]}, times: any}
steps:
  - ` + exportedSpan("inner", 2, 1) + `
  - ` + exportedSpan("outer", 1, 0) + `
  - ` + exportedSpan("other", 3, 0) + `
  - {asked: otel.outer, within: 2s}
`
	exported(t, text, [2]time.Duration{}, func(t *testing.T, _ time.Duration, ts ...*transcript.Transcript) {
		for _, side := range ts {
			same(t, side.Target, bodies(side), []string{
				`otel.outer: {"attributes":{},"kind":"UNSPECIFIED","span":"outer","spans":[{"attributes":{},"kind":"UNSPECIFIED","span":"inner"}]}`,
				`otel.rest: {"resource":{},"scopes":{"":["traces"]}}`,
				`otel.unexpected: {"attributes":{},"kind":"UNSPECIFIED","span":"other"} (no rule of the scenario takes this span)`,
			})
		}
	})
}

func TestARuleOfACollectorAwaitsAState(t *testing.T) {
	metric := func(count int) string {
		return fmt.Sprintf(`{http: "POST /a", query: {to: /v1/metrics}, json: {resourceMetrics: [{scopeMetrics: [{metrics: [{name: m, sum: {aggregationTemporality: 2, dataPoints: [{startTimeUnixNano: "1", asInt: "%d"}]}}]}]}]}}`, count)
	}
	text := `
stubs:
  otel:
    - {name: two, when: {json: {$.metric: m, $.value: 2}}}
    - {name: rest, times: any}
steps:
  - ` + metric(1) + `
  - {asked: otel.rest, times: 2, within: 2s}
  - ` + metric(2) + `
  - {asked: otel.two, within: 2s}
`
	exported(t, text, [2]time.Duration{0, time.Second}, func(t *testing.T, took time.Duration, ts ...*transcript.Transcript) {
		same(t, "requests", told(ts...), []string{"otel.two 1", "otel.rest 1", "otel.two 1", "otel.rest 1"})
		if took != 2*time.Second {
			t.Errorf("it took %s", took)
		}
	})
	exported(t, strings.Replace(text, "$.value: 2", "$.value: 3", 1), [2]time.Duration{}, func(t *testing.T, _ time.Duration, ts ...*transcript.Transcript) {
		if got := ts[0].Steps[3].Unmet; got == nil || got.Kind != "asked" {
			t.Errorf("a state that does not come: %+v", got)
		}
		same(t, "requests", told(ts[0]), []string{"otel.two 0: a request, none came", "otel.rest 2"})
	})
}

func TestFailuresOfACollectorAreComparedOnce(t *testing.T) {
	text := `
stubs:
  otel:
    - {name: down, when: {http: POST /v1/traces}, answer: {status: 503}, times: 1..2}
    - {name: outer, when: {json: {$.span: outer}}}
    - {name: rest, times: any}
steps:
  - ` + exportedSpan("outer", 1, 0) + `
  - {asked: otel.outer, within: 2s}
`
	exported(t, text, [2]time.Duration{}, func(t *testing.T, _ time.Duration, ts ...*transcript.Transcript) {
		for _, side := range ts {
			same(t, side.Target, bodies(side), []string{"otel.down: ", `otel.outer: {"attributes":{},"kind":"UNSPECIFIED","span":"outer"}`, `otel.rest: {"resource":{},"scopes":{"":["traces"]}}`})
		}
	})
}

func TestLogRecordsAreComparedAsOftenAsTheyAreDemanded(t *testing.T) {
	record := func(text string) string {
		return fmt.Sprintf(`{http: "POST /a", query: {to: /v1/logs}, json: {resourceLogs: [{scopeLogs: [{logRecords: [{body: {stringValue: %s}}]}]}]}}`, text)
	}
	text := `
stubs:
  otel:
    - {name: resource, when: {absent: [$.log]}}
    - {name: one, when: {json: {$.log: a}}, times: 1..}
    - {name: rest, times: any}
steps:
  - ` + record("a") + `
  - ` + record("a") + `
  - ` + record("b") + `
`
	exported(t, text, [2]time.Duration{}, func(t *testing.T, _ time.Duration, ts ...*transcript.Transcript) {
		same(t, "requests", told(ts...), []string{"otel.resource 1", "otel.one 1", "otel.rest 0", "otel.resource 1", "otel.one 1", "otel.rest 0"})
	})
	exported(t, strings.Replace(text, "$.log: a", "$.log: c", 1), [2]time.Duration{}, func(t *testing.T, _ time.Duration, ts ...*transcript.Transcript) {
		same(t, "requests", told(ts[0]), []string{"otel.resource 1", "otel.one 0: a request, none came", "otel.rest 0"})
	})
}

func TestWhatACollectorMustNotGetIsUnexpected(t *testing.T) {
	const bad = `{http: "POST /a", query: {to: /v1/traces}, raw: {text: x, type: application/x-protobuf}}`
	for name, tc := range map[string]struct{ rules, step, want string }{
		"an export without rules": {"", exportedSpan("outer", 1, 0), "the scenario has no rules for this stub, so nothing may be exported to it"},
		"a broken export":         {"stubs: {otel: [{name: rest, times: any}]}\n", bad, "the export is rejected: it is not a message of OTLP: "},
		"another request":         {"stubs: {otel: [{name: rest, times: any}]}\n", strings.Replace(bad, "/v1/traces", "/v1/other", 1), "no rule of the scenario answers it"},
	} {
		t.Run(name, func(t *testing.T) {
			exported(t, tc.rules+"steps:\n  - "+tc.step+"\n", [2]time.Duration{}, func(t *testing.T, _ time.Duration, ts ...*transcript.Transcript) {
				for _, side := range ts {
					last := side.Upstream[len(side.Upstream)-1]
					if last.ID != "otel.unexpected" || last.Unmet == nil || !strings.HasPrefix(last.Unmet.Why, tc.want) {
						t.Errorf("%s: %s %+v, want %s", side.Target, last.ID, last.Unmet, tc.want)
					}
				}
			})
		})
	}
}
