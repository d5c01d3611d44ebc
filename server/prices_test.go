package server_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/settings"
)

const (
	onePrice  = `{"data":[{"id":"a/b","pricing":{"prompt":"0.0000025","completion":"1"},"context_length":5}]}`
	onlyIt    = `{"pricing":[{"provider":"a","model":"b","input_token_cost":0.0000025,"output_token_cost":1,"currency":"$","context_length":5}],"source":"openrouter"}`
	noPrice   = `{"pricing":[],"source":"openrouter"}`
	allOfThem = `{"configured_only":false}`
)

// TestSettingsDoNotSayWherePricesAre checks decision G67: only the environment does, and the request has no key.
func TestSettingsDoNotSayWherePricesAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) { fmt.Fprint(w, onePrice) })
		d := settings.Below(t.TempDir())
		testfile.Write(t, filepath.Join(d.Config, "config.yaml"), "GOOSE_PRICING_URL: http://settings.test\nOPENROUTER_HOST: http://settings.test\n")
		testfile.Write(t, filepath.Join(d.Config, "secrets.yaml"), "GOOSE_PRICING_URL: http://secrets.test\nOPENROUTER_API_KEY: canary\n")
		r := start(t, server.Config{Directories: d, Models: transport})
		for range 2 {
			r.post("POST /config/pricing", allOfThem).is(t, "all", 200, onlyIt)
		}
		r.post("POST /config/pricing", `{}`).is(t, "of configured providers", 200, noPrice)
		asked := model.Asked()
		if len(asked) != 1 || asked[0].URL != "https://openrouter.ai/api/v1/models" || strings.Contains(fmt.Sprint(asked), "canary") {
			t.Errorf("requests: %v", asked)
		}
	})
}

// TestAStopDoesNotWaitForPrices checks decision G70.
func TestAStopDoesNotWaitForPrices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model, transport := llmtest.Start(t, func(_ http.ResponseWriter, a llmtest.Asked) { <-a.Gone })
		r := start(t, server.Config{Models: transport})
		waiting := r.start(withJSON("POST /config/pricing", allOfThem, secret))
		synctest.Wait()
		began := time.Now()
		r.stop()
		(<-waiting).is(t, "the request that waits", 200, noPrice)
		if took := time.Since(began); took > time.Second/10 || len(model.Asked()) != 1 {
			t.Errorf("the stop took %s, after %d requests for prices", took, len(model.Asked()))
		}
	})
}

// TestAListMayBeCompressed checks decision G67: the bound is that of the decoded body.
func TestAListMayBeCompressed(t *testing.T) {
	for name, tc := range map[string]struct {
		padding int64
		want    string
	}{
		"small": {0, onlyIt}, "large": {16 << 20, noPrice},
	} {
		t.Run(name, func(t *testing.T) {
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
					t.Error("the request does not accept gzip")
				}
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				io.WriteString(z, onePrice)
				io.CopyN(z, blanks{}, tc.padding)
				z.Close()
			}))
			defer upstream.Close()
			r := startTCP(t, server.Config{Env: func(name string) (string, bool) { return upstream.URL, name == "GOOSE_PRICING_URL" }})
			answer := r.post("POST /config/pricing", allOfThem)
			tooLong := func() bool { return strings.Contains(r.log.String(), "the answer is too long") }
			for range 30 { // as many seconds at most, because each request waits 1 s for the fetch
				if answer.body == onlyIt || tooLong() {
					break
				}
				answer = r.post("POST /config/pricing", allOfThem)
			}
			answer.is(t, name, 200, tc.want)
			if tooLong() != (tc.padding > 0) {
				t.Errorf("the log has\n%s", r.log)
			}
		})
	}
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) { return copy(p, strings.Repeat(" ", len(p))), nil }
