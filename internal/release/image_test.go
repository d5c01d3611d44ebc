package release

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// instructions returns the instructions of a Dockerfile, each in one line and with single spaces.
func instructions(t *testing.T, name string) (out []string) {
	t.Helper()
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(testfile.Text(t, filepath.Join(root, name)), "")
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if words := strings.Fields(line); len(words) > 0 {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// ignores reports whether a pattern of .dockerignore leaves out a file, or a folder above it. Of the syntax it knows
// names, `*` within a name, and `**/` at the start.
func ignores(pattern, name string) bool {
	anywhere, isAnywhere := strings.CutPrefix(pattern, "**/")
	for ; name != "."; name = path.Dir(name) {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
		if isAnywhere {
			if ok, _ := path.Match(anywhere, path.Base(name)); ok {
				return true
			}
		}
	}
	return false
}

// TestTheImagesHaveTheProgramsOfARelease checks that the Dockerfile builds with the flags of a release, from files that
// are there, and that no image runs as root.
func TestTheImagesHaveTheProgramsOfARelease(t *testing.T) {
	all := instructions(t, "Dockerfile")
	text := strings.Join(all, "\n")
	for _, b := range read(t).Builds {
		command := fmt.Sprintf(`%s GOOS=$TARGETOS GOARCH=$TARGETARCH go build %s -ldflags="%s" -o /out/$program ./cmd/$program`,
			strings.Join(b.Env, " "), strings.Join(b.Flags, " "), strings.Join(b.Ldflags, " "))
		if !strings.Contains(text, command) {
			t.Errorf("the Dockerfile does not build %s as a release does: %s", b.ID, command)
		}
		_, stage, ok := strings.Cut(text+"\n", "\nFROM ${BASE} AS "+b.ID+"\n")
		stage, _, _ = strings.Cut(stage, "\nFROM ")
		for _, want := range []string{"COPY --from=build /out/" + b.ID + " /usr/local/bin/" + b.ID, "COPY LICENSE NOTICES /usr/share/doc/" + b.ID + "/", "USER 65532:65532", `ENTRYPOINT ["/usr/local/bin/` + b.ID + `"]`} {
			if !ok || !strings.Contains(stage+"\n", want+"\n") {
				t.Errorf("the image of %s has no %s", b.ID, want)
			}
		}
	}
	copies := 0
	for _, line := range all {
		words := strings.Fields(line)
		if words[0] != "COPY" || strings.HasPrefix(words[1], "--from") {
			continue
		}
		for _, source := range words[1 : len(words)-1] {
			copies++
			if _, err := os.Stat(filepath.Join(root, source)); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if copies == 0 {
		t.Error("the Dockerfile copies nothing")
	}
	module := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(testfile.Text(t, filepath.Join(root, "go.mod")))
	from := regexp.MustCompile(`FROM --platform=\$BUILDPLATFORM golang:` + regexp.QuoteMeta(module[1]) + `\.\d+@sha256:[0-9a-f]{64} AS build\n`)
	if !from.MatchString(text) {
		t.Errorf("the Dockerfile has no %s", from)
	}
}

// TestTheImagesAreBuiltFromAllFiles checks that no file that git knows is left out: it would count as deleted, and the
// version as that of a changed tree.
func TestTheImagesAreBuiltFromAllFiles(t *testing.T) {
	var patterns []string
	for line := range strings.Lines(testfile.Text(t, filepath.Join(root, ".dockerignore"))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, line)
		}
	}
	for _, pattern := range patterns {
		for _, f := range tracked(t) {
			if ignores(pattern, f.Path()) {
				t.Errorf("%s leaves out %s", pattern, f.Path())
			}
		}
	}
	for name, want := range map[string]bool{"bin/lockstep": true, "reference/node_modules/a/b.js": true, "node_modules": true, "cmd/bin/x.go": false} {
		got := false
		for _, pattern := range patterns {
			got = got || ignores(pattern, name)
		}
		if got != want {
			t.Errorf("%s is ignored: %t", name, got)
		}
	}
}
