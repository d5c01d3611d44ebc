// Package report holds a judged run as reports show it. The packages below it show it to people, to programs and to CI
// servers: text, html, markdown, jsonreport and junit.
//
// It can show last month's run as well as today's, because it knows only what was judged, and nothing about running.
// It also has the sentences about a run that all formats share.
//
// Everything that a server sent is treated as hostile. Invisible and control characters are escaped before a text goes
// into a report. No byte of it controls a terminal, breaks out of XML, or reorders the text around it.
package report

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// Schema is the JSON Schema (draft 2020-12) of report.json, which jsonreport writes.
//
//go:embed report.schema.json
var Schema []byte

// A Document is a run as reports show it.
type Document struct {
	Version  string    `json:"version"` // version of lockstep
	Started  time.Time `json:"started"`
	Millis   int64     `json:"ms"` // how long the run took
	Seed     uint64    `json:"seed"`
	Jobs     int       `json:"jobs"`
	Project  string    `json:"project"`  // the path of lockstep.yaml
	Contract string    `json:"contract"` // the path of the OpenAPI document
	// Alone means that there was one target. Only the contract and the scenarios' expectations judged it.
	Alone bool `json:"alone,omitempty"`
	// Versions are those of the targets, by name, as far as they are known.
	Versions map[string]string `json:"versions,omitempty"`
	// TargetFlags choose the targets of the run again. There are none if those of the project ran.
	TargetFlags []string `json:"target_flags,omitempty"`
	// Sums identify what was run, and the rules by which it was judged. Older reports have no sums.
	Sums *Sums `json:"sums,omitempty"`
	verdict.Run
	Latency []Latency `json:"latency,omitempty"` // by operation
	// Changes are those since the previous run. Evidence is by scenario. Pages show both; the JSON does not contain
	// them.
	Changes *Changes `json:"-"`
	// Selection means that the run left out scenarios of the project. What it did not reach of the contract is no news.
	Selection bool                 `json:"-"`
	Evidence  map[string]*Evidence `json:"-"`
	// Steps are those of each scenario, if they were kept.
	Steps map[string][]StepLine `json:"-"`
}

// Sums are SHA-256 checksums of files. Runs with different sums cannot be compared.
type Sums struct {
	Contract  string `json:"contract"`
	Scenarios string `json:"scenarios"` // of all scenarios, whether selected or not
	Rules     string `json:"rules"`     // of lockstep.yaml
}

// maxCommand limits the length of a command that a report shows.
const maxCommand = 4000

// Rerun returns the command that runs some scenarios again, on the same targets. It returns "" if the command would have
// to be cut or escaped, because that would be another command.
func (d *Document) Rerun(ids []string) string {
	if len(d.Scenarios) > 0 && strings.HasSuffix(d.Scenarios[0].File, ".go") {
		return commandLine("go", "test", "-run", testPattern(ids))
	}
	return commandLine(slices.Concat(d.command("run"), d.TargetFlags, ids)...)
}

// testPattern returns the pattern of go test for some tests: one test exactly, or otherwise all subtests of theirs.
func testPattern(ids []string) string {
	if len(ids) == 1 {
		levels := strings.Split(ids[0], "/")
		for i, level := range levels {
			levels[i] = "^" + regexp.QuoteMeta(level) + "$"
		}
		return strings.Join(levels, "/")
	}
	var names []string
	for _, id := range ids {
		if name, _, _ := strings.Cut(id, "/"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// Waive returns the command that writes waivers for the findings of a scenario, or "", as Rerun does.
func (d *Document) Waive(id string) string {
	return commandLine(append(d.command("waive"), "--append", id)...)
}

// command returns the words of a command about the project of a run.
func (d *Document) command(name string) []string {
	words := []string{"lockstep", name}
	if d.Project != "" && d.Project != "lockstep.yaml" {
		words = append(words, "--config", d.Project)
	}
	return words
}

// TargetFlag returns the flag that makes lockstep run use one target, or "", as Rerun does.
func TargetFlag(name string) string { return commandLine("--target", name) }

func commandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellWord(word)
	}
	line := strings.Join(quoted, " ")
	if len(line) > maxCommand || textfit.Visible(line) != line {
		return ""
	}
	return line
}

var plainWord = regexp.MustCompile(`^[\w./-]+$`)

// shellWord returns a text as one word of a POSIX shell, quoted if necessary.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return shellQuote(s)
}
