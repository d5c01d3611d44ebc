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

// A recording depends on what the reference was, and on what was redacted. The rules of comparison and the contract do not
// matter, because they apply when it is judged.

// settingsOfTarget returns a sum of each key of lockstep.yaml that decides what a target does. When it is ready and how long it
// may take to stop do not.
func settingsOfTarget(name string, n *yamldoc.Node, files []target.File) map[string]string {
	prefix := "targets." + name + "."
	out := settingSums(prefix, n, "command", "dir", "env", "inherit", "headers")
	if len(files) > 0 {
		out[prefix+"files"] = settingSum(files) // with their contents, and those of the project that it gets
	}
	return out
}

// settingSums returns a sum of each of these keys that a map has.
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
		panic("project: a setting is not valid JSON: " + err.Error()) // maps, lists and scalars are
	}
	return sum(data)[:16]
}

// Settings returns the sums that a recording of a target depends on.
func (p *Project) Settings(name string) map[string]string {
	out := maps.Clone(p.settings)
	maps.Copy(out, p.targetSettings[name])
	return out
}

// Recorded returns the limits as a recording names them.
func (l Limits) Recorded() transcript.Limits {
	return transcript.Limits{Step: l.Step, Scenario: l.Scenario, Settle: l.Settle, Body: l.Body, Events: l.Events}
}

// ScenarioSum returns a sum of the text of a scenario, with all that it includes.
func ScenarioSum(s *scenario.Scenario) string {
	return sum(append([]byte(s.ID+"\n"), s.Whole()...))[:32]
}

// Version returns a sum of the file, or the folder, that identifies the version of a target. It is "" when the project names
// none, or when that is missing: where a recording is used, the reference need not be installed.
func (p *Project) Version(name string) (string, error) {
	i := IndexTarget(p.Targets, name)
	if i < 0 || p.Targets[i].VersionFile == "" {
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

// contentSum returns the SHA-256 sum of a file, or of the names and contents of all files below a folder.
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
