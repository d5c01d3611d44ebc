//go:build unix

package harness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/scenario"
)

func ExampleLoad() {
	_, err := harness.Load("testdata/mistake/lockstep.yaml")
	if problems, ok := errors.AsType[scenario.Problems](err); ok {
		for _, p := range problems {
			fmt.Println(p.Line, p.What)
		}
	}
	// Output:
	// 4 unknown key "targtes"
}

// A run file is judged by the rules that lockstep.yaml has now, so a rule can be tried without any server.
func ExampleJudge() {
	project, err := harness.Load("../examples/notes/lockstep.yaml")
	if err != nil {
		log.Fatal(err)
	}
	var observed bytes.Buffer
	if _, err := harness.Run(context.Background(), project, &harness.Options{Environ: os.Environ(), RunFile: &observed}); err != nil {
		log.Fatal(err)
	}
	result, err := harness.Judge(context.Background(), project, &observed, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Verdict)
	// Output: differ
}

// Each shard may run on a machine of its own. The run files are judged together.
func ExampleMerge() {
	project, err := harness.Load("../examples/notes/lockstep.yaml")
	if err != nil {
		log.Fatal(err)
	}
	var parts []harness.Part
	for _, text := range []string{"1/2", "2/2"} {
		shard, err := harness.ParseShard(text)
		if err != nil {
			log.Fatal(err)
		}
		var observed bytes.Buffer
		options := &harness.Options{Environ: os.Environ(), RunFile: &observed, Shard: shard, AllowEmpty: true}
		if _, err := harness.Run(context.Background(), project, options); err != nil {
			log.Fatal(err)
		}
		parts = append(parts, harness.Part{Name: text, File: &observed})
	}
	var whole bytes.Buffer
	merged, err := harness.Merge(project, parts)
	if err != nil {
		log.Fatal(err)
	}
	if err := merged.Write(&whole); err != nil {
		log.Fatal(err)
	}
	result, err := harness.Judge(context.Background(), project, &whole, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Verdict)
	// Output: differ
}

func ExampleParseShard() {
	shard, err := harness.ParseShard("2/8")
	fmt.Println(shard.Index, shard.Of, err)
	_, err = harness.ParseShard("9/8")
	fmt.Println(err)
	// Output:
	// 2 8 <nil>
	// there is no shard 9/8
	// 	fix: shards count from 1: write 1/8 to 8/8
}

// What differs between a server and itself says nothing about another one: it is noise.
func ExampleNoise() {
	project, err := harness.Load("../examples/notes/lockstep.yaml")
	if err != nil {
		log.Fatal(err)
	}
	found, err := harness.Noise(context.Background(), project, &harness.NoiseOptions{Runs: 2, Environ: os.Environ()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Target, found.Runs, found.Silent())
	// Output: old 2 true
}

// A program that starts nothing but targets calls AdoptOrphans first thing in main.
func ExampleAdoptOrphans() {
	harness.AdoptOrphans()
}
