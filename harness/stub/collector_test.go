package stub_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/stub"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestACollectorAnswersAsOTLPSays(t *testing.T) {
	const record = "\x0a\x0e\x12\x0c\x12\x0a\x2a\x08\x0a\x06hello!" // a log record in protobuf
	for name, tc := range map[string]struct{ path, contentType, coding, body, want string }{
		"protobuf":          {"/v1/logs", "application/x-protobuf", "", record, "200 application/x-protobuf "},
		"gzip":              {"/v1/logs", "application/x-protobuf", "gzip", zipped(t, record), "200 application/x-protobuf "},
		"JSON":              {"/base/v1/traces", "application/json; charset=utf-8", "", `{"resourceSpans":[],"new":1}`, "200 application/json {}"},
		"broken JSON":       {"/v1/metrics", "application/json", "", `{`, `400 application/json {"message":"it is not a message of OTLP: `},
		"broken protobuf":   {"/v1/metrics", "application/x-protobuf", "", "\xff", "400 application/x-protobuf \x12"},
		"broken gzip":       {"/v1/logs", "application/json", "gzip", "no gzip", `400 application/json {"message":"`},
		"another type":      {"/v1/logs", "text/plain", "", "x", "400 application/x-protobuf \x12"},
		"another path":      {"/v1/profiles", "application/json", "", "{}", `501 application/json {"error":`},
		"an ID of 15 bytes": {"/v1/logs", "application/json", "", `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"0af7651916cd43dd8448eb211c8031"}]}]}]}`, `400 application/json {"message":"a log record has IDs`},
	} {
		t.Run(name, func(t *testing.T) {
			stage(t, stub.OTLP, stub.Options{}, func(t *testing.T, _ *stub.Server, c *http.Client) {
				req, err := http.NewRequestWithContext(t.Context(), "POST", "http://memory"+tc.path, strings.NewReader(tc.body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", tc.contentType)
				if tc.coding != "" {
					req.Header.Set("Content-Encoding", tc.coding)
				}
				resp, err := c.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				got := resp.Status[:3] + " " + resp.Header.Get("Content-Type") + " " + string(body)
				if err != nil || !strings.HasPrefix(got, tc.want) || strings.HasPrefix(tc.want, "200") && got != tc.want {
					t.Errorf("%v, %s", err, cmp.Diff(tc.want, got))
				}
			})
		})
	}
}
