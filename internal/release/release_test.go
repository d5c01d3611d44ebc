// Package release has tests for what a release consists of: the programs, their licences, the module and the images.
package release

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

const root = "../.."

// settings are the parts of .goreleaser.yaml that decide about the programs.
type settings struct {
	Builds []build
	// Archives says what else is in them.
	Archives []struct {
		IDs   []string
		Files []struct{ Src string }
	}
}

type build struct {
	ID, Main, Binary           string
	Env, Flags, Ldflags        []string
	Goos, Goarch               []string
	ModTimestamp               string `yaml:"mod_timestamp"`
	Gomod, Hooks, Overrides    any
	Asmflags, Gcflags, Tags    []string
	Goamd64, Goarm64, Buildmod string
}

func read(t *testing.T) settings {
	t.Helper()
	var s settings
	if err := yaml.Unmarshal(testfile.Read(t, filepath.Join(root, ".goreleaser.yaml")), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Builds) != 2 || len(s.Archives) != 2 {
		t.Fatalf("%d builds, %d archives", len(s.Builds), len(s.Archives))
	}
	return s
}

// args returns the command line that builds a program into a file.
func (b build) args(file string) []string {
	args := append([]string{"build"}, b.Flags...)
	return append(args, "-ldflags="+strings.Join(b.Ldflags, " "), "-o", file, b.Main)
}

// run runs a command in a folder, with additional variables, and returns its standard output.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_NOSYSTEM=1"), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// TestAReleaseIsReproducible builds both programs in two folders, from the files that the module has, and demands the
// same bytes and the version of the tag.
func TestAReleaseIsReproducible(t *testing.T) {
	one := filepath.Join(t.TempDir(), "one")
	for _, name := range moduleFiles(t) {
		testfile.Write(t, filepath.Join(one, name), testfile.Read(t, filepath.Join(root, name)))
	}
	const day = "2026-11-23T12:00:00Z"
	git := func(dir string, args ...string) {
		t.Helper()
		run(t, dir, []string{"GIT_COMMITTER_DATE=" + day, "GIT_AUTHOR_DATE=" + day}, "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	}
	git(one, "init", "-q")
	git(one, "add", "-A")
	git(one, "commit", "-q", "-m", "a release")
	git(one, "tag", "v0.8.7")
	other := filepath.Join(t.TempDir(), "another", "folder")
	git(one, "clone", "-q", ".", other)
	for _, b := range read(t).Builds {
		sum := func(dir string) string {
			t.Helper()
			file := filepath.Join(t.TempDir(), b.Binary)
			run(t, dir, append(b.Env, "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH), "go", b.args(file)...)
			info, err := buildinfo.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if info.Main.Version != "v0.8.7" {
				t.Errorf("%s says that it is %s", b.ID, info.Main.Version)
			}
			if b.ID == "lockstep" {
				if got := run(t, dir, nil, file, "version"); got != "lockstep 0.8.7\n" {
					t.Errorf("lockstep version prints %q", got)
				}
			}
			bytes := sha256.Sum256(testfile.Read(t, file))
			return hex.EncodeToString(bytes[:])
		}
		if a, b := sum(one), sum(other); a != b {
			t.Errorf("the same commit makes other bytes in another folder: %s, %s", a, b)
		}
	}
}

// TestWhatAReleaseHasIsDescribed compares .goreleaser.yaml with docs/platforms.md, and with the other files that build.
func TestWhatAReleaseHasIsDescribed(t *testing.T) {
	s, platforms := read(t), testfile.Text(t, filepath.Join(root, "docs/platforms.md"))
	names := map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}
	var want strings.Builder
	for _, goos := range s.Builds[0].Goos {
		want.WriteString("| " + names[goos] + " | " + strings.Join(s.Builds[0].Goarch, ", ") + " |\n")
	}
	if !strings.Contains(platforms, want.String()) {
		t.Errorf("docs/platforms.md does not have these rows:\n%s", want.String())
	}
	for i, b := range s.Builds {
		if b.Main != "./cmd/"+b.ID || b.Binary != b.ID || !slices.Equal(s.Archives[i].IDs, []string{b.ID}) {
			t.Errorf("%+v is not in its archive", b)
		}
		if b.ModTimestamp != "{{ .CommitTimestamp }}" {
			t.Errorf("the time of %s is %q", b.ID, b.ModTimestamp)
		}
		var files []string
		for _, f := range s.Archives[i].Files {
			files = append(files, f.Src)
		}
		if !slices.Equal(files, []string{"LICENSE", "NOTICES"}) {
			t.Errorf("the archive of %s has %v", b.ID, files)
		}
	}
	install := testfile.Text(t, filepath.Join(root, "docs/install.md"))
	if command := strings.Join(s.Builds[0].Env, " ") + " GOOS=linux GOARCH=arm64 go build " + strings.Join(s.Builds[0].Flags, " ") + ` -ldflags="` + strings.Join(s.Builds[0].Ldflags, " ") + `" ./cmd/lockstep`; !strings.Contains(install, command) {
		t.Errorf("docs/install.md does not show how a release is built: %s", command)
	}
	makefile := testfile.Text(t, filepath.Join(root, "Makefile"))
	if shared := strings.Join(s.Builds[0].Env, " ") + " go build " + s.Builds[0].Flags[0] + " -o "; !strings.Contains(makefile, shared) {
		t.Errorf("make build does not build as a release does: %s", shared)
	}
}
