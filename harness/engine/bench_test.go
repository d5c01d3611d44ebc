package engine_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// exchanges is the number of exchanges in the scenario. It is large enough for one-time costs not to matter.
const exchanges = 1000

// BenchmarkExchange measures what it costs to send a request, record the response, check both against the contract, and
// check what the scenario expects. It compares that with the same exchange by net/http, encoding/json and
// reflect.DeepEqual. Both use the same server in the same process, so the server's cost is in both figures. The server
// sends back customer names that are new in each round and on each target. So no content repeats, and no cached verdict
// is used.
func BenchmarkExchange(b *testing.B) {
	bare := ratio.Candidate{Name: "bare", Round: bareRound(b, serveOrders(b))}
	for _, bm := range []struct {
		name    string
		targets int
		expect  bool
		runFile io.Writer
	}{
		{"one target", 1, true, nil},
		{"one target, with a run file", 1, true, io.Discard},
		{"two targets", 2, true, nil},
		{"two targets, nothing expected", 2, false, nil},
	} {
		b.Run(bm.name, func(b *testing.B) {
			p := ordersProject(b, bm.expect)
			var targets []string
			for i := range bm.targets {
				targets = append(targets, fmt.Sprintf("t%d=%s", i, serveOrders(b)))
			}
			ratio.Report(b, exchanges, ratio.Candidate{
				Name: "checked", Round: checkedRound(b, p, &engine.Options{Targets: targets, RunFile: bm.runFile}),
			}, bare)
		})
	}
}

func checkedRound(b *testing.B, p *project.Project, options *engine.Options) func() ratio.Cost {
	return func() ratio.Cost {
		var result *engine.Result
		var err error
		cost := ratio.Of(func() { result, err = engine.Run(b.Context(), p, options) })
		if err != nil {
			b.Fatal(err)
		}
		for _, t := range result.Totals.Targets {
			if t.Success != exchanges {
				b.Fatalf("%s answered %d requests, want %d", t.Name, t.Success, exchanges)
			}
		}
		if result.Verdict != verdict.Match || len(options.Targets) > 1 && result.Totals.Compared.Exchanges != exchanges {
			b.Fatalf("the run is %s: %+v", result.Verdict, result.Scenarios[0].Findings)
		}
		return cost
	}
}

func bareRound(b *testing.B, url string) func() ratio.Cost {
	client := &http.Client{Transport: &http.Transport{}}
	b.Cleanup(client.CloseIdleConnections)
	exchange := func(i int, wish []byte, want any) error {
		resp, err := client.Post(url+"/orders/"+strconv.Itoa(i), "application/json", bytes.NewReader(wish))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		var got any
		if err := json.Unmarshal(body, &got); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK || !reflect.DeepEqual(want, got) {
			return fmt.Errorf("order %d: %s %s", i, resp.Status, body)
		}
		return nil
	}
	return func() ratio.Cost {
		wishes, wants := make([][]byte, exchanges), make([]any, exchanges)
		unique := strings.ToLower(rand.Text())
		for i := range exchanges {
			wishes[i] = []byte(wish(i, unique))
			if err := json.Unmarshal([]byte(order(i, unique)), &wants[i]); err != nil {
				b.Fatal(err)
			}
		}
		return ratio.Of(func() {
			for i := range exchanges {
				if err := exchange(i, wishes[i], wants[i]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// wish is the body of a request, and order is the body of its response.
func wish(i int, customer string) string {
	return fmt.Sprintf(`{"customer":"%s","currency":"EUR","items":[{"sku":"tea-%d","quantity":2,"gift":false},{"sku":"cup-%d","quantity":1,"gift":true}]}`, customer, i, i)
}

func order(i int, customer string) string {
	return fmt.Sprintf(`{"number":%d,"customer":"%s","state":"accepted","currency":"EUR","total":1295,"placed":"2026-11-20T10:00:00Z",`+
		`"items":[{"sku":"tea-%d","quantity":2,"gift":false,"price":395},{"sku":"cup-%d","quantity":1,"gift":true,"price":505}],`+
		`"address":{"street":"Lange Straße %d","city":"Göttingen","postcode":"37073"},"notes":null}`, i, customer, i, i, i)
}

// serveOrders runs a server that does as little as possible, and returns its URL.
func serveOrders(b *testing.B) string {
	answers := make([][2]string, exchanges)
	for i := range answers {
		answers[i][0], answers[i][1], _ = strings.Cut(order(i, "|"), "|")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /orders/{number}", func(w http.ResponseWriter, r *http.Request) {
		i, err := strconv.Atoi(r.PathValue("number"))
		body, _ := io.ReadAll(r.Body)
		_, customer, ok := bytes.Cut(body, []byte(`"customer":"`))
		customer, _, _ = bytes.Cut(customer, []byte(`"`))
		if err != nil || !ok || i < 0 || i >= exchanges {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(slices.Concat([]byte(answers[i][0]), customer, []byte(answers[i][1])))
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	srv := &http.Server{Handler: mux}
	served := make(chan struct{})
	go func() {
		defer close(served)
		srv.Serve(l)
	}()
	b.Cleanup(func() {
		srv.Close()
		<-served
	})
	return "http://" + l.Addr().String()
}

// ordersProject writes a project with one scenario of 1000 exchanges and loads it.
func ordersProject(b *testing.B, expect bool) *project.Project {
	var steps strings.Builder
	for i := range exchanges {
		fmt.Fprintf(&steps, "  - http: POST /orders/%d\n    json: %s\n", i, wish(i, "${{ unique }}"))
		if expect {
			fmt.Fprintf(&steps, "    expect: {status: 200, json: %s}\n", order(i, "${{ unique }}"))
		}
	}
	dir := b.TempDir()
	for name, text := range map[string]string{
		"openapi.yaml": ordersContract,
		"lockstep.yaml": "contract: openapi.yaml\nscenarios: scenarios\nreference: t0\n" +
			"targets:\n  t0: {url: 'http://127.0.0.1:1', ready: {get: /health}}\ncompare: {headers: [Content-Type]}\n",
		"scenarios/orders.yaml": "scenario: orders\nwhy: Orders are accepted\nsource: benchmark\nsteps:\n" + steps.String(),
	} {
		testfile.Write(b, filepath.Join(dir, name), text)
	}
	return fauxproject.Load(b, filepath.Join(dir, "lockstep.yaml"))
}

const ordersContract = `
openapi: 3.0.3
info: {title: Orders, version: "1"}
paths:
  /orders/{number}:
    post:
      parameters: [{name: number, in: path, required: true, schema: {type: integer, minimum: 0}}]
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: "#/components/schemas/Wish"}}}
      responses:
        "200":
          description: The order
          content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}
components:
  schemas:
    Wish:
      type: object
      required: [customer, currency, items]
      properties:
        customer: {type: string, minLength: 1}
        currency: {$ref: "#/components/schemas/Currency"}
        items: {type: array, minItems: 1, items: {$ref: "#/components/schemas/Item"}}
    Order:
      type: object
      required: [number, customer, state, currency, total, placed, items, address]
      properties:
        number: {type: integer, minimum: 0}
        customer: {type: string, minLength: 1}
        state: {type: string, enum: [accepted, refused]}
        currency: {$ref: "#/components/schemas/Currency"}
        total: {type: integer}
        placed: {type: string, format: date-time}
        items: {type: array, minItems: 1, items: {$ref: "#/components/schemas/PricedItem"}}
        address:
          type: object
          required: [street, city]
          properties: {street: {type: string}, city: {type: string}, postcode: {type: string, pattern: "^[0-9]{5}$"}}
        notes: {type: string, nullable: true}
    Currency: {type: string, pattern: "^[A-Z]{3}$"}
    Item:
      type: object
      required: [sku, quantity]
      properties: {sku: {type: string}, quantity: {type: integer, minimum: 1}, gift: {type: boolean}}
    PricedItem:
      allOf:
        - $ref: "#/components/schemas/Item"
        - type: object
          required: [price]
          properties: {price: {type: integer}}
`

// BenchmarkJudge judges run files of two targets again, without sending anything. One pair is two responses: both are
// checked against the contract and the scenario's expectations, and compared. The other candidate reads the two bodies
// with encoding/json and compares them with reflect.DeepEqual, one pair at a time on one processor. Judging may use all
// processors. Every round has a contract with empty caches, and no content repeats.
func BenchmarkJudge(b *testing.B) {
	const runs = 8
	file := ordersProject(b, true).File
	record := ordersRecord(b, file, runs)
	judge := func() ratio.Cost {
		p := reload(b, file)
		return ratio.Of(func() {
			for _, v := range judgeFile(b.Context(), p, record).Scenarios {
				if v.Verdict != verdict.Match || v.Compared.Exchanges != exchanges {
					b.Fatalf("%s is %s: %v", v.ID, v.Verdict, v.Findings)
				}
			}
		})
	}
	bare := func() {
		for _, c := range record.Cases {
			for i := range c.Transcripts[0].Steps {
				var sides [2]any
				for side, t := range c.Transcripts {
					if err := json.Unmarshal(t.Steps[i].Exchanges[0].Response.Body.Bytes, &sides[side]); err != nil {
						b.Fatal(err)
					}
				}
				if reflect.DeepEqual(sides[0], sides[1]) { // they must differ in the customers
					b.Fatal("the bodies are equal")
				}
			}
		}
	}
	judged, _ := ratio.Report(b, exchanges*runs,
		ratio.Candidate{Name: "judged", Round: judge},
		ratio.Candidate{Name: "bare", Round: func() ratio.Cost { return ratio.Of(bare) }},
	)
	b.ReportMetric(float64(time.Second)/float64(judged), "pairs/s")
}

func reload(b *testing.B, file string) *project.Project {
	return fauxproject.Load(b, file)
}

// ordersRecord runs the scenario several times on two targets, and returns one record of all runs.
func ordersRecord(b *testing.B, file string, runs int) *runfile.File {
	p := reload(b, file)
	targets := []string{"t0=" + serveOrders(b), "t1=" + serveOrders(b)}
	var all *runfile.File
	for range runs {
		var file bytes.Buffer
		if _, err := engine.Run(b.Context(), p, &engine.Options{Targets: targets, RunFile: &file}); err != nil {
			b.Fatal(err)
		}
		record, err := runfile.Read(p, &file)
		if err != nil {
			b.Fatal(err)
		}
		if all == nil {
			all = record
		} else {
			all.Cases = append(all.Cases, record.Cases...)
		}
	}
	return all
}
