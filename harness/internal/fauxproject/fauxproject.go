// Package fauxproject gives tests a project with the servers of package faux.
package fauxproject

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/faux/chat"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

const head = `contract: openapi.yaml
scenarios: scenarios
reference: right
targets:
`

// Plain is the start of a lockstep.yaml with the targets Running, for projects with settings of their own.
const Plain = head + Running

// config is the lockstep.yaml, with a place for its targets. The limits are far above what a correct server needs, even
// on a busy machine. Only settle is really waited for, when a stream is behind.
const config = head + `%s
compare:
  headers: [Cache-Control, Content-Type, Location, X-Shelf]
  volatile:
    - {at: $..serial, kind: id, because: each server counts for itself}
limits: {step: 5s, scenario: 7s, settle: 50ms, body: 1000000, events: 800}
`

// chatting is the lockstep.yaml of the servers of package chat.
const chatting = head + Running + `
compare: {headers: [Content-Type, Sec-WebSocket-Protocol]}
limits: {step: 5s, scenario: 7s, settle: 50ms, body: 1000000, events: 300}
`

// Chat loads the project of the servers of package chat from a new folder.
func Chat(t *testing.T) *project.Project {
	t.Helper()
	dir := t.TempDir()
	if err := chat.WriteProject(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "lockstep.yaml")
	testfile.Write(t, file, []byte(chatting))
	return Load(t, file)
}

// Running are targets whose addresses tests replace.
const Running = `  right: {url: "http://127.0.0.1:1", ready: {get: /health}}
  wrong: {url: "http://127.0.0.1:2", ready: {get: /health}}
`

// New writes a project with these targets into a new folder, and loads it.
func New(t *testing.T, targets string) *project.Project {
	t.Helper()
	return Load(t, Write(t, targets))
}

// Write writes a project with these targets into a new folder, and returns the path of its lockstep.yaml.
func Write(t *testing.T, targets string) (file string) {
	t.Helper()
	dir := t.TempDir()
	if err := faux.WriteProject(dir); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "lockstep.yaml")
	testfile.Write(t, file, fmt.Appendf(nil, config, targets))
	return file
}

// Add writes a file of a project. Its name is relative to lockstep.yaml.
func Add(t *testing.T, config, name, text string) {
	t.Helper()
	testfile.Write(t, filepath.Join(filepath.Dir(config), name), strings.TrimLeft(text, "\n"))
}

// Load loads a project without mistakes.
func Load(t testing.TB, file string) *project.Project {
	t.Helper()
	p, err := project.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Record runs a project on targets, and returns its run file and its result.
func Record(t *testing.T, p *project.Project, options engine.Options, targets ...string) (*bytes.Buffer, *engine.Result) {
	t.Helper()
	var file bytes.Buffer
	options.RunFile, options.Targets = &file, targets
	result, err := engine.Run(t.Context(), p, &options)
	if err != nil {
		t.Fatal(err)
	}
	return &file, result
}
