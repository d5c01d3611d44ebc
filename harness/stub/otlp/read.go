// Package otlp reads what a program exports to a collector of OpenTelemetry (OTLP over HTTP), and brings it into a form
// that does not depend on batches, ids and times: traces become trees of spans, metrics their latest points.
//
// An export has at most MaxExport bytes, and a Collection at most MaxItems spans, log records and points.
package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// MaxExport is the number of bytes of the largest export, decoded.
const MaxExport = 4 << 20

// The content types of OTLP over HTTP.
const (
	Protobuf = "application/x-protobuf"
	JSON     = "application/json"
)

// An Export is the content of one request to a collector. Its message has the fields of the request of the same signal
// (ExportTraceServiceRequest and so on).
type Export struct {
	traces  *tracepb.TracesData
	metrics *metricspb.MetricsData
	logs    *logspb.LogsData
}

// IsExport reports whether a path is one to which a signal is exported. It may follow a path of the collector's own.
func IsExport(path string) bool { return signalOf(path) != "" }

func signalOf(path string) string {
	for _, signal := range [...]string{"traces", "metrics", "logs"} {
		if strings.HasSuffix(path, "/v1/"+signal) {
			return signal
		}
	}
	return ""
}

// MediaType returns the content type to answer a request with: its own, or else protobuf.
func MediaType(contentType string) string {
	if name, _, _ := mime.ParseMediaType(contentType); name == JSON {
		return JSON
	}
	return Protobuf
}

// Read reads the body of a request, without content codings. The error says what is wrong with it.
func Read(path, contentType string, body []byte) (*Export, error) {
	name, _, err := mime.ParseMediaType(contentType)
	if err != nil || name != Protobuf && name != JSON {
		return nil, fmt.Errorf("the content type is %q: send %s or %s", contentType, Protobuf, JSON)
	}
	if len(body) > MaxExport {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(body), MaxExport)
	}
	e := &Export{traces: &tracepb.TracesData{}, metrics: &metricspb.MetricsData{}, logs: &logspb.LogsData{}}
	into, ok := map[string]proto.Message{"traces": e.traces, "metrics": e.metrics, "logs": e.logs}[signalOf(path)]
	if !ok {
		return nil, errors.New("the path ends neither with /v1/traces nor with /v1/metrics or /v1/logs")
	}
	if name == JSON {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, into)
	} else {
		err = proto.Unmarshal(body, into)
	}
	if err != nil {
		return nil, fmt.Errorf("it is not a message of OTLP: %w", err)
	}
	if name == JSON {
		e.unhex()
	}
	return e, e.check()
}

// unhex corrects ids: the JSON of OTLP writes them in hexadecimal digits, but that of protobuf in Base64 (OTLP, "JSON
// Protobuf Encoding").
func (e *Export) unhex() {
	for _, s := range e.spans() {
		s.TraceId, s.SpanId, s.ParentSpanId = unhex(s.TraceId), unhex(s.SpanId), unhex(s.ParentSpanId)
		for _, l := range s.Links {
			l.TraceId, l.SpanId = unhex(l.TraceId), unhex(l.SpanId)
		}
	}
	for _, r := range e.records() {
		r.TraceId, r.SpanId = unhex(r.TraceId), unhex(r.SpanId)
	}
}

// unhex returns the bytes of hexadecimal digits that were read as Base64. For other text it returns an invalid ID.
func unhex(id []byte) []byte {
	out, err := hex.DecodeString(base64.StdEncoding.EncodeToString(id))
	if err != nil {
		return []byte{0}
	}
	return out
}

func (e *Export) spans() (out []*tracepb.Span) {
	for _, r := range e.traces.ResourceSpans {
		for _, s := range r.ScopeSpans {
			out = append(out, s.Spans...)
		}
	}
	return out
}

func (e *Export) records() (out []*logspb.LogRecord) {
	for _, r := range e.logs.ResourceLogs {
		for _, s := range r.ScopeLogs {
			out = append(out, s.LogRecords...)
		}
	}
	return out
}

// check looks for what OTLP forbids and protobuf allows.
func (e *Export) check() error {
	for _, s := range e.spans() {
		if !isID(s.TraceId, 16) || !isID(s.SpanId, 8) {
			return fmt.Errorf("the span %q has no valid IDs: 16 and 8 bytes, not all of them 0", s.Name)
		}
		if len(s.ParentSpanId) > 0 && !isID(s.ParentSpanId, 8) {
			return fmt.Errorf("the span %q has a parent without a valid ID: 8 bytes, not all of them 0", s.Name)
		}
		if s.EndTimeUnixNano < s.StartTimeUnixNano {
			return fmt.Errorf("the span %q ends before it begins", s.Name)
		}
		if err := checkAttributes(s.Attributes); err != nil {
			return fmt.Errorf("the span %q: %w", s.Name, err)
		}
	}
	for _, r := range e.records() {
		if len(r.TraceId) > 0 && !isID(r.TraceId, 16) || len(r.SpanId) > 0 && !isID(r.SpanId, 8) {
			return errors.New("a log record has IDs that are not valid: 16 and 8 bytes, not all of them 0")
		}
		if err := checkAttributes(r.Attributes); err != nil {
			return fmt.Errorf("a log record: %w", err)
		}
	}
	return nil
}

func isID(id []byte, length int) bool {
	for _, b := range id {
		if b != 0 {
			return len(id) == length
		}
	}
	return false
}

// checkAttributes reports names that are empty or occur twice.
func checkAttributes(all []*commonpb.KeyValue) error {
	seen := map[string]bool{}
	for _, kv := range all {
		switch {
		case kv.GetKey() == "":
			return errors.New("an attribute has no name")
		case seen[kv.Key]:
			return fmt.Errorf("it has the attribute %q twice", kv.Key)
		}
		seen[kv.Key] = true
	}
	return nil
}

// Failure is the body of the answer to a request that is rejected: a google.rpc.Status with the reason (OTLP, "OTLP/HTTP
// Response").
func Failure(mediaType, text string) []byte {
	if mediaType == JSON {
		return encode(map[string]any{"message": text})
	}
	const message = 2 // the number of its field
	return protowire.AppendString(protowire.AppendTag(nil, message, protowire.BytesType), strings.ToValidUTF8(text, "\uFFFD"))
}

// Success is the body of the answer to a request that is accepted.
func Success(mediaType string) []byte {
	if mediaType == JSON {
		return []byte("{}")
	}
	return []byte{}
}
