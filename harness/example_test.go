//go:build unix

package harness_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"slices"
	"testing"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/harnesstest"
	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestParity(t *testing.T) {
	harnesstest.Test(t, "../examples/notes/lockstep.yaml", &harness.Options{
		Targets: []string{"old"}, // one server, against the contract; without it, all targets of lockstep.yaml
	})
}

func TestNotes(t *testing.T) {
	notes := harnesstest.Open(t, "../examples/notes/lockstep.yaml", &harness.Options{Targets: []string{"old"}})
	t.Run("follow", func(t *testing.T) {
		t.Parallel()
		notes.Compare(t, harness.Keys{"why": "A follower hears of a new note"}, func(c *harness.Client) {
			feed := c.Open("feed", harness.Keys{"sse": "GET /feed"})
			added := c.HTTP("POST /notes", harness.Keys{"json": harness.Keys{"text": "buy milk"}})
			id := added.Capture("$.id") // "${{ id }}": each target gets its own value
			feed.Await(harness.Keys{"event": "added", "json": harness.Keys{"$.id": id}})
			for _, note := range c.HTTP("GET /notes/" + id).All() {
				if text, _ := note.Get("$.text"); text != "buy milk" {
					t.Errorf("%s: the text is %v", note.Target, text)
				}
			}
		})
	})
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		notes.Compare(t, harness.Keys{"why": "An unknown note is not found"}, func(c *harness.Client) {
			c.HTTP("GET /notes/none", harness.Keys{"expect": harness.Keys{"status": 404}})
		})
	})
}

// A run is observed first, and judged afterwards. What was observed can be judged again.
func ExampleRun() {
	project, err := harness.Load("../examples/notes/lockstep.yaml")
	if err != nil {
		log.Fatal(err) // every mistake in every file
	}
	var observed bytes.Buffer
	result, err := harness.Run(context.Background(), project, &harness.Options{Environ: os.Environ(), RunFile: &observed})
	if err != nil {
		log.Fatal(err) // nothing was judged; a difference is not an error
	}
	fmt.Println(result.Verdict)
	for _, s := range result.Scenarios {
		for _, f := range s.Findings {
			fmt.Printf("%s:%d: %s: %s: %s (%s)\n", s.ID, f.Line, f.Class, f.StepText, f.Text, f.Blame)
		}
	}
	again, err := harness.Judge(context.Background(), project, &observed, nil) // no server is started
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Verdict)
	// Output:
	// differ
	// add-and-follow:9: difference: POST /notes: the statuses differ (candidate)
	// add-and-follow:9: violation: POST /notes: the status is 200; POST /notes declares 201 (candidate)
	// differ
}

// An operator of your own says which mistake your scenarios must notice. It changes a copy of what the candidate did.
func ExampleMutate() {
	project, err := harness.Load("../examples/notes/lockstep.yaml")
	if err != nil {
		log.Fatal(err)
	}
	var observed bytes.Buffer // of a green run: a server against itself
	options := &harness.Options{Environ: os.Environ(), Targets: []string{"old", "old"}, RunFile: &observed}
	if _, err := harness.Run(context.Background(), project, options); err != nil {
		log.Fatal(err)
	}
	teapot := mutate.Operator{
		Name: "ours/teapot", Family: "ours", Matters: true, Doc: "It answers the last request with 418",
		Mutants: func(s *mutate.Subject, _ uint64) iter.Seq[mutate.Mutant] {
			return func(yield func(mutate.Mutant) bool) {
				last := len(s.Candidate.Steps) - 1
				yield(mutate.Mutant{Place: "the last step", Before: "200", After: "418", Build: func() *transcript.Transcript {
					t := *s.Candidate
					t.Steps = slices.Clone(t.Steps)
					x := *t.Steps[last].Exchanges[0]
					answer := *x.Response
					answer.Status = 418
					x.Response, t.Steps[last].Exchanges = &answer, []*transcript.Exchange{&x}
					return &t
				}})
			}
		},
	}
	score, err := harness.Mutate(context.Background(), project, &observed, &harness.MutateOptions{Operators: []mutate.Operator{teapot}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d of %d are noticed\n", score.Killed, score.Matter)
	// Output:
	// 1 of 1 are noticed
}
