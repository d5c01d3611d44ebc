// Package report holds a judged run as reports show it, and reads and writes it as JSON. The packages below it show it to
// people and to CI servers: text, html, markdown and junit.
//
// It can show last month's run as well as today's: it knows what was judged, and nothing of how to run anything.
//
// Everything that a server said is hostile here. It is made visible before it is put into a report: no byte of it acts
// on a terminal, breaks out of XML, or reorders the text around it.
package report

import (
	"time"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Document is a run as reports show it.
type Document struct {
	Version  string    `json:"version"` // of lockstep
	Started  time.Time `json:"started"`
	Millis   int64     `json:"ms"` // how long the run took
	Seed     uint64    `json:"seed"`
	Jobs     int       `json:"jobs"`
	Project  string    `json:"project"`  // the path of lockstep.yaml
	Contract string    `json:"contract"` // the path of the OpenAPI document
	// Alone says that there was one target: it was judged by the contract and by the scenarios alone.
	Alone bool `json:"alone,omitempty"`
	// Sums say what was run, and by which rules it was judged. An older report has none.
	Sums *Sums `json:"sums,omitempty"`
	verdict.Run
	Latency []Latency `json:"latency,omitempty"` // by operation
	// Changes are since the run before, Evidence is by scenario. Pages show both; they are no part of the JSON.
	Changes  *Changes             `json:"-"`
	Evidence map[string]*Evidence `json:"-"`
}

// Sums are SHA-256 sums of files: runs with other ones cannot be laid side by side.
type Sums struct {
	Contract  string `json:"contract"`
	Scenarios string `json:"scenarios"` // of all that there were, whichever were selected
	Rules     string `json:"rules"`     // of lockstep.yaml
}
