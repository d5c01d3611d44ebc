//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// prepareSDK gives the reader of docs/sdk.md what the page asks for and a test cannot install: the programs, the
// checkout, the npm packages, and the model that the page's script describes.
func prepareSDK(t *testing.T, r *reader, text string) {
	t.Helper()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(checkout, "sdk", "ts")
	builtAfterItsSources(t, library)
	r.buildAgent(t)
	folder := r.dir
	r.dir = filepath.Join(folder, "tea") // node and tsc also find packages in the folders above
	for _, err := range []error{os.Mkdir(r.dir, 0o700), os.Symlink(filepath.Join(library, "node_modules"), filepath.Join(folder, "node_modules"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.env = append(r.env, "GOOSE_PATH_ROOT="+filepath.Join(folder, "data"), "HOME="+folder, "npm_config_offline=true", "npm_config_update_notifier=false")
	r.offline(t, checkout)
	r.startModel(t, text)
	r.write(t, "file", "readme.ts", firstBlock(t, testfile.Text(t, filepath.Join(library, "README.md")), "ts"))
}

// prepareAgentSDK gives the reader of docs/agent-sdk.md the checkout and agentcli.
func prepareAgentSDK(t *testing.T, r *reader, _ string) {
	t.Helper()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(r.bin, "agentcli"), "./cmd/agentcli")
	build.Dir = checkout
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r.offline(t, checkout)
}

// offline lets the go command use the checkout and what is downloaded, and nothing else.
func (r *reader) offline(t *testing.T, checkout string) {
	t.Helper()
	r.env = append(r.env, "LOCKSTEP="+checkout, "GOPROXY=off", "GOSUMDB=off", "GOFLAGS=-buildvcs=false")
	goEnv, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, modules, _ := strings.Cut(strings.TrimSpace(string(goEnv)), "\n")
	r.env = append(r.env, "GOCACHE="+cache, "GOMODCACHE="+modules)
}

// startModel runs the scripted model of a page on a free port, and sets the variables that the page exports.
func (r *reader) startModel(t *testing.T, text string) {
	t.Helper()
	_, after, _ := strings.Cut(text, "<!-- file: model.yaml -->\n")
	file := filepath.Join(t.TempDir(), "model.yaml")
	testfile.Write(t, file, firstBlock(t, after, "yaml"))
	exports := regexp.MustCompile(`(?m)^export (.*http://127\.0\.0\.1:8400.*)$`).FindStringSubmatch(text)
	if exports == nil {
		t.Fatal("the page does not export the address of the model")
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- engine.ServeStub(ctx, "openai", file, 0, func(url string) { ready <- url }) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	select {
	case url := <-ready:
		r.env = append(r.env, strings.Fields(strings.ReplaceAll(exports[1], "http://127.0.0.1:8400", url))...)
	case err := <-done:
		done <- nil
		t.Fatal(err)
	}
}

// builtAfterItsSources fails if make would build the library again: the reader would follow an old one.
func builtAfterItsSources(t *testing.T, library string) {
	t.Helper()
	built, err := os.Stat(filepath.Join(library, "dist", "index.js"))
	if err != nil {
		t.Fatalf("run make build (make test does): %v", err)
	}
	sources, err := filepath.Glob(filepath.Join(library, "src", "*.ts"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	for _, source := range sources {
		info, err := os.Stat(source)
		if err != nil {
			t.Fatal(err)
		}
		if info.ModTime().After(built.ModTime()) && !strings.HasSuffix(source, ".test.ts") {
			t.Fatalf("%s is newer than dist: run make build (make test does)", source)
		}
	}
}

// firstBlock returns the first code block in this language.
func firstBlock(t *testing.T, text, language string) string {
	t.Helper()
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		if block[1] == language {
			return block[2]
		}
	}
	t.Fatalf("no block is %s", language)
	return ""
}
