package project

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A recording depends on what the reference was, and on what was redacted. Comparison rules and the contract do not
// matter, because they apply when it is judged.

// settingsOfTarget returns a checksum of each key of lockstep.yaml that decides what a target does. It leaves out when
// the target is ready and how long it may take to stop.
func settingsOfTarget(name string, n *yamldoc.Node, files []target.File) map[string]string {
	prefix := "targets." + name + "."
	out := settingSums(prefix, n, "command", "program", "driver", "dir", "env", "inherit", "headers")
	if len(files) > 0 {
		out[prefix+"files"] = settingSum(files) // with their contents, and including the files of the project
	}
	return out
}

// settingSums returns a checksum of each of these keys that a map has.
func settingSums(prefix string, n *yamldoc.Node, keys ...string) map[string]string {
	out := map[string]string{}
	for _, key := range keys {
		if v := n.Get(key); v != nil {
			out[prefix+key] = settingSum(v.Value())
		}
	}
	return out
}

func settingSum(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("project: a setting is not valid JSON: " + err.Error()) // maps, lists and scalars are always valid
	}
	return sum(data)[:16]
}

// Settings returns the checksums on which a recording of a target depends.
func (p *Project) Settings(name string) map[string]string {
	out := maps.Clone(p.settings)
	maps.Copy(out, p.targetSettings[name])
	return out
}

// Recorded returns the limits in the form of a recording.
func (l Limits) Recorded() transcript.Limits {
	return transcript.Limits{Step: l.Step, Scenario: l.Scenario, Settle: l.Settle, Body: l.Body, Events: l.Events}
}

// ScenarioSum returns a checksum of the text of a scenario, including its fragments.
func ScenarioSum(s *scenario.Scenario) string {
	return sum(append([]byte(s.ID+"\n"), s.Whole()...))[:32]
}

// Version returns the version of a target: the text that the project states, or a checksum of the file, or the folder,
// that identifies the version. It is "" when the project names none or it is missing, because the reference need not be
// installed where a recording is used.
func (p *Project) Version(name string) (string, error) {
	i := IndexTarget(p.Targets, name)
	switch {
	case i < 0:
		return "", nil
	case p.Targets[i].VersionText != "":
		return p.Targets[i].VersionText, nil
	case p.Targets[i].VersionFile == "":
		return "", nil
	}
	text, err := contentSum(p.Targets[i].VersionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("the version of %s: %w", name, err)
	}
	return text[:16], nil
}

// contentSum returns the SHA-256 checksum of a file, or of the names and contents of all files in a folder.
func contentSum(path string) (string, error) {
	var all strings.Builder
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error { // in the order of the names
		if err != nil || d.IsDir() {
			return err
		}
		data, err := regular.Read(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(path, file)
		fmt.Fprintf(&all, "%s %q\n", sum(data), filepath.ToSlash(name))
		return err
	})
	return sum([]byte(all.String())), err
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
