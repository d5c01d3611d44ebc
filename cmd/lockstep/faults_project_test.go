//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// projectFaults are faults in the files that are read before a run, or in the selection.
func projectFaults() []*surrounding {
	return []*surrounding{
		{doc: "no project", code: exitUsage, says: "lockstep.yaml: no such file", set: edited("lockstep.yaml", "")},
		{doc: "a project that is no YAML", code: exitUsage, says: "lockstep.yaml:1", set: edited("lockstep.yaml", "contract: [\n")},
		{doc: "no contract", code: exitUsage, says: "openapi.yaml: no such file", set: edited("openapi.yaml", "")},
		{doc: "a contract that is a folder", code: exitUsage, says: "openapi.yaml", set: files(func(t *testing.T, l *lab) {
			os.Remove(filepath.Join(l.dir, "openapi.yaml"))
			l.write(t, "openapi.yaml/a-file", "")
		})},
		{doc: "a contract that is cut off", code: exitUsage, says: "openapi.yaml", set: files(func(t *testing.T, l *lab) {
			text := l.read("openapi.yaml")
			l.write(t, "openapi.yaml", text[:len(text)/2])
		})},
		{doc: "a contract without any operation of the scenarios", code: exitUsage, says: "the contract has no operation for", set: edited("openapi.yaml", "openapi: 3.0.3\ninfo: {title: T, version: \"1\"}\npaths: {/other: {get: {responses: {\"200\": {description: Fine}}}}}\n")},
		{doc: "waivers that cannot be read", code: exitUsage, says: "waivers.yaml", set: edited("scenarios/waivers.yaml/a-file", "x")},
		{doc: "a scenario that is half a file", code: exitUsage, says: "half.yaml", set: edited("scenarios/half.yaml", "scenario: half\nwhy: It")},
		{doc: "no scenarios", code: exitUsage, says: "scenarios", set: files(func(t *testing.T, l *lab) {
			if err := os.RemoveAll(filepath.Join(l.dir, "scenarios")); err != nil {
				t.Fatal(err)
			}
		}, "run")},
		{doc: "nothing selected", code: exitUsage, says: "no scenario is selected", set: files(func(*testing.T, *lab) {}, "run", "--name", "submarine")},
		{doc: "an empty shard", code: exitUsage, says: "--shard 2/2 has no scenario", set: files(func(*testing.T, *lab) {}, "run", "items/story", "--shard", "2/2")},
		{doc: "a shard in which nothing applies", code: exitUnknown, says: "nothing was judged", set: files(func(*testing.T, *lab) {}, "run", "process/stop", "--shard", "1/1")},
		{doc: "an unknown tag", code: exitUsage, says: `no scenario has the tag "itmes"`, set: files(func(*testing.T, *lab) {}, "run", "--tag", "itmes")},
		{doc: "a path that matches nothing", code: exitUsage, says: `no scenario or folder is called "items/stroy"`, set: files(func(*testing.T, *lab) {}, "run", "items/stroy")},
		{doc: "a scenario that compares nothing", code: exitUnknown, says: "nothing was compared", set: edited("scenarios/empty.yaml",
			"scenario: empty\nwhy: It looks at nothing\nsource: openapi.yaml\nsteps:\n  - poll: GET /health\n    every: 1ms..2ms\n    within: 5s\n    until: {status: 200}\n    compare: none\n", "run", "empty")},
	}
}
