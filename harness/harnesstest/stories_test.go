//go:build unix

package harnesstest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/code"
	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/harnesstest"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/report/junit"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// The stories are scenarios in Go, the tests of another project. Tests refer to their lines by what they contain.
var stories = []struct {
	name  string
	keys  code.Keys
	steps func(*testing.T, *code.Client)
}{
	{"items", code.Keys{"why": "An item can be read"}, func(t *testing.T, c *code.Client) {
		added := c.HTTP("POST /items", item("lamp")) // adds a lamp
		id := added.Capture("$.id")
		for _, a := range added.All() {
			var lamp struct{ Name string }
			if name, _ := a.Get("$.name"); a.Status != 201 || a.Decode(&lamp) != nil || lamp.Name != "lamp" || name != "lamp" || a.Header.Get("Content-Type") == "" {
				t.Errorf("%s: %+v", a.Target, a)
			}
		}
		c.HTTP("GET /items/" + id) // reads the lamp
		c.HTTP("GET /items", code.Keys{"query": code.Keys{"shelf": shelf}})
	}},
	{"events", code.Keys{"why": "A watcher hears of an item"}, func(t *testing.T, c *code.Client) {
		feed := c.Open("feed", code.Keys{"sse": "GET /events", "query": code.Keys{"shelf": shelf}, "ready": code.Keys{"event": "hello"}})
		id := c.HTTP("POST /items", item("bench")).Capture("$.id")
		heard := feed.Await(code.Keys{"event": "created"}) // hears of the bench
		heard.Capture("$.name")
		if a := heard.Of("right"); a.Event != "created" || !strings.Contains(string(a.Body), "bench") {
			t.Errorf("heard %+v", a)
		}
		c.HTTP("DELETE /items/" + id)
		feed.Await(code.Keys{"event": "deleted", "json": code.Keys{"$.id": id}})
		feed.Never(code.Keys{"event": "created"}, code.Keys{"within": "10ms"})
		feed.Close()
	}},
	{"parallel", code.Keys{"why": "Items can be added at once"}, func(_ *testing.T, c *code.Client) {
		c.Step(code.Keys{"parallel": code.Keys{
			"a": []any{code.Keys{"http": "POST /items", "json": code.Keys{"shelf": shelf, "name": "a", "tags": []string{"x"}}}},
			"b": []any{code.Keys{"http": "GET /health"}},
		}})
	}},
	{"assertion", code.Keys{"why": "It fails by itself"}, func(t *testing.T, c *code.Client) {
		c.HTTP("GET /health")
		t.Error("not what Go wanted")
	}},
	{"fatal", code.Keys{"why": "It ends by itself"}, func(t *testing.T, c *code.Client) {
		c.Open("feed", code.Keys{"sse": "GET /events", "query": code.Keys{"shelf": shelf}})
		t.FailNow()
	}},
	{"panics", code.Keys{"why": "It panics"}, func(_ *testing.T, c *code.Client) {
		c.Open("feed", code.Keys{"sse": "GET /events", "query": code.Keys{"shelf": shelf}})
		panic("a mistake of the test")
	}},
	{"misspelt", code.Keys{"why": "It has a mistake"}, func(_ *testing.T, c *code.Client) {
		c.HTTP("GET /health", code.Keys{"expct": 200}) // misspells a key
	}},
	{"undefined", code.Keys{"why": "It has a mistake"}, func(_ *testing.T, c *code.Client) {
		c.HTTP("GET /items/${{ lamp }}") // uses an unknown name
	}},
	{"undeclared", code.Keys{"why": "It has a mistake"}, func(_ *testing.T, c *code.Client) {
		c.HTTP("GET /chairs") // calls what the contract lacks
	}},
	{"invalid", code.Keys{"why": "It has a mistake"}, func(_ *testing.T, c *code.Client) {
		c.HTTP("POST /items", code.Keys{"json": code.Keys{"shelf": 3}}) // breaks the contract
	}},
	{"unjoined", code.Keys{"why": "It has a mistake"}, func(_ *testing.T, c *code.Client) {
		c.Step(code.Keys{"start": "slow", "http": "GET /health"}) // starts and never joins
	}},
	{"pathless", code.Keys{"why": "It has a mistake"}, func(_ *testing.T, c *code.Client) {
		c.HTTP("GET /health").Capture("status") // captures without a path
	}},
	{"valueless", code.Keys{"why": "A capture without a value"}, func(_ *testing.T, c *code.Client) {
		id := c.HTTP("POST /items", item("lamp")).Capture("$.nothing") // captures nothing
		if a := c.HTTP("GET /items/" + id).Of("right"); !strings.Contains(a.Missing, "nothing has no value") {
			panic(a.Missing)
		}
	}},
	{"whyless", nil, func(*testing.T, *code.Client) { panic("it must not run") }},
	{"fresh", code.Keys{"why": "A server ends when asked", "isolate": "fresh"}, func(_ *testing.T, c *code.Client) {
		c.HTTP("GET /health")
		c.Step(code.Keys{"stop": "target", "within": "5s"})
	}},
	{"socket", code.Keys{"why": "A socket echoes"}, func(t *testing.T, c *code.Client) {
		talk := c.Open("talk", code.Keys{"socket": "/echo"}) // opens a socket
		talk.Send(code.Keys{"json": code.Keys{"say": "hello"}})
		said := talk.Await(code.Keys{"json": code.Keys{"$.say": "hello"}})
		talk.Send(code.Keys{"json": code.Keys{"again": said.Capture("$.say")}})
		if a := talk.Await(code.Keys{"json": code.Keys{"$.again": "hello"}}).Of("right"); !strings.Contains(string(a.Body), `"again"`) {
			t.Errorf("heard %+v", a)
		}
		talk.Close()
	}},
	{"program", code.Keys{"why": "A program counts lines"}, func(t *testing.T, c *code.Client) {
		p := c.Open("p", code.Keys{"program": code.Keys{}}) // starts the program
		p.Send(code.Keys{"json": code.Keys{"say": "one"}})
		if a := p.Await(code.Keys{"json": code.Keys{"$.n": 1}}).Of("right"); len(a.Body) == 0 {
			t.Errorf("heard %+v", a)
		}
		p.Close()
	}},
	{"driver", code.Keys{"why": "A client library says what it was told"}, func(t *testing.T, c *code.Client) {
		word := c.Do("say", code.Keys{"with": code.Keys{"say": "one"}}).Capture("$.ok.said") // says one
		for _, a := range c.Do("say", code.Keys{"with": code.Keys{"say": word}}).All() {
			if said, _ := a.Get("$.ok.said"); said == nil {
				t.Errorf("%+v", a)
			}
		}
	}},
}

const shelf = "s-${{ unique }}"

func item(name string) code.Keys {
	return code.Keys{"json": code.Keys{"shelf": shelf, "name": name, "tags": []string{"x"}}}
}

// playStories runs the stories with these names in one suite, as parallel subtests. It writes the reports beside the
// project.
func playStories(file string, names []string) {
	os.Args = []string{os.Args[0], "-test.v", "-test.timeout=1m", "-test.parallel=8"}
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
		Name: "TestStories", F: func(t *testing.T) {
			observed, err := os.Create(file + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { observed.Close() })
			suite := harnesstest.Open(t, file, &engine.Options{RunFile: observed})
			t.Cleanup(func() {
				doc := suite.Close()
				for name, write := range map[string]func(io.Writer) error{
					".xml":  func(w io.Writer) error { return junit.Write(w, doc) },
					".html": func(w io.Writer) error { return html.Write(w, doc) },
				} {
					var b strings.Builder
					if err := write(&b); err != nil || os.WriteFile(file+name, []byte(b.String()), 0o600) != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
			for _, s := range stories {
				for _, name := range names {
					if s.name == name {
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							suite.Compare(t, s.keys, func(c *code.Client) { s.steps(t, c) })
						})
					}
				}
			}
		},
	}}, nil, nil)
}

// playTarget is a server, a program or a driver, that is right or has a fault.
func playTarget(role string, args []string) int {
	switch role {
	case "server":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		p := &faux.Process{Log: os.Stderr, Exit: os.Exit, Listen: args[0]}
		return p.Play(ctx, args[1])
	case "driver", "program":
		lines := bufio.NewScanner(os.Stdin)
		said := map[string]string{"right": "one", "wrong": "two"}[args[0]]
		for n := 1; lines.Scan(); n++ {
			if role == "program" {
				fmt.Printf("{\"n\":%d,\"said\":%q}\n", n, said)
				continue
			}
			var told struct{ ID int }
			if err := json.Unmarshal(lines.Bytes(), &told); err != nil {
				return 1
			}
			fmt.Printf("{\"id\":%d,\"ok\":{\"said\":%q}}\n", told.ID, said)
		}
	}
	return 0
}
