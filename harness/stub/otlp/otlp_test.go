package otlp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const (
	trace1 = "0af7651916cd43dd8448eb211c80319c"
	trace2 = "1af7651916cd43dd8448eb211c80319c"
)

// span is a span in the JSON of OTLP. The last digit of its ID is id, and that of its parent is parent, if it has one.
func span(trace, id, parent, name string, start int, more string) string {
	text := fmt.Sprintf(`{"traceId":%q,"spanId":"b7ad6b716920333%s","name":%q,"startTimeUnixNano":"%d000000","endTimeUnixNano":"99000000"%s`, trace, id, name, start, more)
	if parent != "" {
		text += `,"parentSpanId":"b7ad6b716920333` + parent + `"`
	}
	return text + "}"
}

const resource = `{"attributes":[{"key":"service.name","value":{"stringValue":"agentd"}}]}`

func traces(spans ...string) string {
	return `{"resourceSpans":[{"resource":` + resource + `,"scopeSpans":[{"scope":{"name":"agentd","version":"1.16.0"},"spans":[` + strings.Join(spans, ",") + `]}]}]}`
}

func logs(records string) string {
	return `{"resourceLogs":[{"resource":` + resource + `,"scopeLogs":[{"scope":{"name":"agentd","version":"1.16.0"},"logRecords":[` + records + `]}]}]}`
}

func metrics(list string) string {
	return `{"resourceMetrics":[{"resource":` + resource + `,"scopeMetrics":[{"scope":{"name":"agentd"},"metrics":[` + list + `]}]}]}`
}

// add adds exports to a collection: the path, and the body as JSON.
func add(t *testing.T, c *Collection, exports ...string) {
	t.Helper()
	for i := 0; i < len(exports); i += 2 {
		e, err := Read("/v1/"+exports[i], JSON, []byte(exports[i+1]))
		if err == nil {
			err = c.Add(e)
		}
		if err != nil {
			t.Fatalf("%s: %v", exports[i], err)
		}
	}
}

// items returns the items of one kind, as JSON.
func items(c *Collection, kind string) (out []string) {
	for _, item := range c.Items() {
		if item.Kind == kind {
			out = append(out, string(item.JSON))
		}
	}
	return out
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestSpansOfAnyBatchesBecomeTrees(t *testing.T) {
	reply := span(trace1, "1", "", "POST /reply", 1, `,"kind":2,"attributes":[{"key":"n","value":{"intValue":"5"}},{"key":"d","value":{"doubleValue":5}},{"key":"l","value":{"arrayValue":{"values":[{"boolValue":true}]}}}]`)
	agent := span(trace1, "2", "1", "invoke_agent goose", 2, `,"kind":1,"status":{"code":2,"message":"why"}`)
	first, second := span(trace1, "3", "2", "chat a", 3, `,"kind":3`), span(trace1, "4", "2", "chat b", 4, `,"kind":3`)
	other := span(trace2, "5", "", "GET /sessions", 9, `,"kind":2,"links":[{"traceId":"`+trace1+`","spanId":"b7ad6b7169203331"}],"events":[{"name":"e"}]`)
	want := []string{
		`{"attributes":{"d":5.0,"l":[true],"n":5},"kind":"SERVER","span":"POST /reply","spans":[{"attributes":{},"description":"why","kind":"INTERNAL","span":"invoke_agent goose","spans":[{"attributes":{},"kind":"CLIENT","span":"chat a"},{"attributes":{},"kind":"CLIENT","span":"chat b"}],"status":"ERROR"}]}`,
		`{"attributes":{},"events":[{"attributes":{},"event":"e"}],"kind":"SERVER","links":[{"attributes":{},"link":"POST /reply"}],"span":"GET /sessions"}`,
	}
	for name, exports := range map[string][]string{
		"one batch":  {"traces", traces(first, second, agent, reply, other)},
		"many":       {"traces", traces(second), "traces", traces(other), "traces", traces(first), "traces", traces(agent), "traces", traces(reply)},
		"sent again": {"traces", traces(first, second), "traces", traces(first, second, agent, reply), "traces", traces(other)},
	} {
		var c Collection
		add(t, &c, exports...)
		expect(t, name, items(&c, "span"), want...)
	}
}

func TestAParentThatHasNotComeIsShown(t *testing.T) {
	const remote, local = `,"kind":2,"flags":768`, `,"kind":2,"flags":256`
	var c Collection
	add(t, &c, "traces", traces(
		span(trace1, "1", "9", "continued", 1, remote),
		span(trace1, "2", "9", "lost", 2, local),
		span(trace1, "3", "9", "continued too", 3, `,"kind":2`),
		span(trace1, "4", "9", "lost too", 4, `,"kind":1`),
		span(trace2, "5", "6", "circle", 5, ""), span(trace2, "6", "5", "other half", 6, ""),
	))
	var got []string
	for _, text := range items(&c, "span") {
		var s struct{ Span, Parent string }
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		got = append(got, s.Span+": "+s.Parent)
	}
	const parent = trace1 + "-b7ad6b7169203339"
	expect(t, "parents", got, "continued: "+parent, "lost: not exported", "continued too: "+parent, "lost too: not exported", "circle: in a circle")
}

func TestPointsHaveTheirLatestValues(t *testing.T) {
	histogram := func(name, unit string, temporality int, start, count, sum string) string {
		return metrics(fmt.Sprintf(`{"name":%q,"unit":%q,"histogram":{"aggregationTemporality":%d,"dataPoints":[{"startTimeUnixNano":%q,"count":%q,"sum":%s,"explicitBounds":[0.5,10],"bucketCounts":[0,%q,0],"attributes":[{"key":"a","value":{"stringValue":"x"}}]}]}}`, name, unit, temporality, start, count, sum, count))
	}
	var c Collection
	add(t, &c,
		"metrics", histogram("tokens", "{token}", 2, "1", "1", "20"), "metrics", histogram("tokens", "{token}", 2, "1", "3", "60"), // cumulative
		"metrics", histogram("tokens", "{token}", 2, "7", "1", "20"), // another process
		"metrics", histogram("took", "s", 1, "1", "1", "0.25"), "metrics", histogram("took", "s", 1, "2", "1", "0.5"), // deltas
		"metrics", metrics(`{"name":"sum","sum":{"isMonotonic":true,"aggregationTemporality":2,"dataPoints":[{"startTimeUnixNano":"1","asInt":"4"}]}},{"name":"gauge","gauge":{"dataPoints":[{"asDouble":1.5}]}}`),
	)
	expect(t, "points", items(&c, "metric"),
		`{"attributes":{},"metric":"gauge","type":"gauge","unit":"","value":1.5}`,
		`{"attributes":{},"metric":"sum","monotonic":true,"temporality":"cumulative","type":"sum","unit":"","value":4}`,
		`{"attributes":{"a":"x"},"boundaries":[0.5,10],"buckets":[0,4,0],"count":4,"metric":"tokens","sum":80,"temporality":"cumulative","type":"histogram","unit":"{token}"}`,
		`{"attributes":{"a":"x"},"boundaries":[0.5,10],"count":2,"metric":"took","temporality":"delta","type":"histogram","unit":"s"}`,
	)
}

func TestLogRecordsNameTheirSpans(t *testing.T) {
	record := func(text, severity, more string) string {
		return `{"timeUnixNano":"5000000","severityNumber":` + severity + `,"body":{"stringValue":"` + text + `"}` + more + `}`
	}
	var c Collection
	add(t, &c,
		"logs", logs(record("in a span", "13", `,"traceId":"`+trace1+`","spanId":"b7ad6b7169203332"`)+","+record("in none", "9", "")+","+record("elsewhere", "18", `,"traceId":"`+trace2+`","spanId":"b7ad6b7169203332"`)),
		"traces", traces(span(trace1, "2", "1", "inner", 2, ""), span(trace1, "1", "", "outer", 1, "")),
	)
	expect(t, "records", items(&c, "log"),
		`{"attributes":{},"log":"in a span","severity":"WARN","span":"inner","trace":"outer"}`,
		`{"attributes":{},"log":"in none","severity":"INFO"}`,
		`{"attributes":{},"log":"elsewhere","severity":"ERROR2","span":"not exported","trace":"not exported"}`,
	)
	expect(t, "resources", items(&c, "resource"), `{"resource":{"service.name":"agentd"},"scopes":{"agentd 1.16.0":["logs","traces"]}}`)
}

func TestWhatIsNotOTLPIsRejected(t *testing.T) {
	for _, tc := range []struct{ path, contentType, body, want string }{
		{"/v1/traces", "text/plain", "{}", `the content type is "text/plain": send application/x-protobuf or application/json`},
		{"/v1/traces", JSON, "{", "it is not a message of OTLP: "},
		{"/v1/traces", Protobuf, "\xff", "it is not a message of OTLP: "},
		{"/v1/spans", JSON, "{}", "the path ends neither with /v1/traces nor"},
		{"/v1/traces", JSON, traces(span("00000000000000000000000000000000", "1", "", "a", 1, "")), `the span "a" has no valid IDs`},
		{"/v1/traces", JSON, traces(span(trace1+"00", "1", "", "a", 1, "")), `the span "a" has no valid IDs`},
		{"/v1/traces", JSON, traces(span(trace1, "1", "0000", "a", 1, "")), `the span "a" has a parent without a valid ID`},
		{"/v1/traces", JSON, traces(span(trace1, "1", "", "a", 100, "")), `the span "a" ends before it begins`},
		{"/v1/traces", JSON, traces(span(trace1, "1", "", "a", 1, `,"attributes":[{"key":"k"},{"key":"k"}]`)), `the span "a": it has the attribute "k" twice`},
		{"/v1/logs", JSON, logs(`{"attributes":[{"key":""}]}`), "a log record: an attribute has no name"},
		{"/v1/logs", JSON, logs(`{"traceId":"0102"}`), "a log record has IDs that are not valid"},
		{"/v1/metrics", JSON, strings.Repeat(" ", MaxExport+1), "it has 4194305 bytes, more than 4194304"},
	} {
		if _, err := Read(tc.path, tc.contentType, []byte(tc.body)); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s %s %.40s: %v, want %s", tc.path, tc.contentType, tc.body, err, tc.want)
		}
	}
}

func TestACollectionIsBounded(t *testing.T) {
	var c Collection
	var all []string
	for range MaxItems {
		all = append(all, "{}")
	}
	add(t, &c, "logs", logs(strings.Join(all, ",")))
	e, err := Read("/v1/logs", JSON, []byte(logs("{}")))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add(e); err != ErrFull {
		t.Errorf("one more: %v, want %v", err, ErrFull)
	}
	if n := len(items(&c, "log")); n != MaxItems {
		t.Errorf("%d log records, want %d", n, MaxItems)
	}
}

func TestProtobufAndJSONAreTheSame(t *testing.T) {
	e, err := Read("/v1/traces", JSON, []byte(traces(span(trace1, "2", "1", "inner", 2, `,"kind":3`), span(trace1, "1", "", "outer", 1, ""))))
	if err != nil {
		t.Fatal(err)
	}
	body, err := proto.Marshal(e.traces)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read("/base/v1/traces", Protobuf+"; a=b", body)
	if err != nil {
		t.Fatal(err)
	}
	var one, other Collection
	if err := cmp.Or(one.Add(e), other.Add(again)); err != nil {
		t.Fatal(err)
	}
	expect(t, "spans", items(&other, "span"), items(&one, "span")...)
	if len(items(&one, "span")) != 1 {
		t.Errorf("trees: %v", items(&one, "span"))
	}
}

func FuzzExports(f *testing.F) {
	list := &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{
		TraceId: []byte(trace1[:16]), SpanId: []byte(trace1[:8]), Name: "a", Attributes: []*commonpb.KeyValue{{Key: "k", Value: &commonpb.AnyValue{}}},
	}}}}}}}
	body, err := proto.Marshal(list)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("traces", Protobuf, body)
	f.Add("traces", JSON, []byte(traces(span(trace1, "2", "1", "inner", 2, ""))))
	f.Add("logs", JSON, []byte(logs(`{"body":{"kvlistValue":{"values":[{"key":"a","value":{"bytesValue":"AAE="}}]}}}`)))
	f.Add("metrics", JSON, []byte(metrics(`{"name":"a","summary":{"dataPoints":[{"sum":"NaN"}]}},{"name":"b","exponentialHistogram":{"dataPoints":[{"count":"1"}]}}`)))
	f.Fuzz(func(t *testing.T, signal, contentType string, data []byte) {
		e, err := Read("/v1/"+signal, contentType, data)
		if err != nil {
			return
		}
		var c Collection
		if err := c.Add(e); err != nil {
			t.Fatalf("the first export: %v", err)
		}
		for _, item := range c.Items() {
			if !json.Valid(item.JSON) {
				t.Errorf("not JSON: %s", item.JSON)
			}
		}
	})
}
