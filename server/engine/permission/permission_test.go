package permission_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestAToolHasOneLevel(t *testing.T) {
	dir := t.TempDir()
	p := permission.New(dir)
	for _, step := range []struct {
		tool string
		set  permission.Level
	}{{"a", permission.AskBefore}, {"b: c", permission.NeverAllow}, {"a", permission.AlwaysAllow}, {"d", permission.AlwaysAllow}} {
		if err := p.Set(permission.Decision{Tool: step.tool, Level: step.set}); err != nil {
			t.Fatal(err)
		}
		if got, err := permission.New(dir).Permission(step.tool); got != step.set || err != nil {
			t.Errorf("%s is %q, %v; want %q", step.tool, got, err, step.set)
		}
	}
	text, _ := os.ReadFile(filepath.Join(dir, "permission.yaml"))
	if want := "user:\n  always_allow:\n  - a\n  - d\n  ask_before: []\n  never_allow:\n  - \"b: c\"\n"; string(text) != want {
		t.Errorf("the file is\n%s\nwant\n%s", text, want)
	}
}

// lists are a category with at most one tool in a list.
func lists(always, ask string) string {
	return "{always_allow: [" + always + "], ask_before: [" + ask + "], never_allow: []}"
}

func TestAFileWrittenByHand(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		want    permission.Level
		smart   permission.Level
	}{
		"none":                 {"", "", ""},
		"no YAML":              {"user: [", "", ""},
		"no mapping":           {"- user", "", ""},
		"a category is a list": {"user: " + lists("x", "") + "\nother: []", "", ""},
		"a list is missing":    {"user: " + lists("x", "") + "\nother: {always_allow: [], ask_before: []}", "", ""},
		"a list is null":       {"user: {always_allow: [x], ask_before: [], never_allow:}", "", ""},
		"a number in a list":   {"user: {always_allow: [x, 5], ask_before: [], never_allow: []}", "", ""},
		"flow and blocks":      {"user: " + lists("", "x") + "\nsmart_approve:\n  always_allow:\n    - x\n  ask_before: []\n  never_allow: []\n  more: 5\n", "ask_before", "always_allow"},
	} {
		dir := t.TempDir()
		if name != "none" {
			testfile.Write(t, filepath.Join(dir, "permission.yaml"), tc.content)
		}
		p := permission.New(dir)
		user, err := p.Permission("x")
		smart, err2 := p.Of(permission.SmartApprove, "x")
		if user != tc.want || smart != tc.smart || err != nil || err2 != nil {
			t.Errorf("%s: %q and %q, %v, %v; want %q and %q", name, user, smart, err, err2, tc.want, tc.smart)
		}
		if err := p.Allow("x"); err != nil {
			t.Errorf("%s: Allow: %v", name, err)
		}
		user, _ = p.Permission("x")
		smart, _ = p.Of(permission.SmartApprove, "x")
		if user != permission.AlwaysAllow || smart != tc.smart {
			t.Errorf("%s: %q and %q after Allow", name, user, smart)
		}
	}
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"FIFO":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"zeros":     func(path string) error { return os.Symlink("/dev/zero", path) },
		"not UTF-8": func(path string) error { return os.WriteFile(path, []byte("user: \"\xff\""), 0o600) },
	} {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, "permission.yaml")); err != nil {
			t.Fatal(err)
		}
		p := permission.New(dir)
		if _, err := p.Permission("x"); err == nil {
			t.Errorf("%s: it was read as permissions", name)
		}
		if err := p.Allow("x"); err == nil {
			t.Errorf("%s: it was replaced", name)
		}
	}
}

// TestDecisionsAreStoredTogether checks decision G51.
func TestDecisionsAreStoredTogether(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "permission.yaml")
	p := permission.New(dir)
	if err := p.Set(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("without a decision there is a file: %v", err)
	}
	testfile.Write(t, path, "other: "+lists("a", "")+"\nuser: "+lists("a, b, c", "d"))
	if err := p.Set(permission.Decision{Tool: "b", Level: permission.NeverAllow}, permission.Decision{Tool: "e", Level: permission.AlwaysAllow}, permission.Decision{Tool: "b", Level: permission.AskBefore}); err != nil {
		t.Fatal(err)
	}
	const want = "other:\n  always_allow:\n  - a\n  ask_before: []\n  never_allow: []\nuser:\n  always_allow:\n  - a\n  - c\n  - e\n  ask_before:\n  - d\n  - b\n  never_allow: []\n"
	if got := testfile.Text(t, path); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	if err := p.Set(permission.Decision{Tool: "f", Level: permission.NeverAllow}, permission.Decision{Tool: strings.Repeat("x", 2<<20), Level: permission.NeverAllow}); err == nil {
		t.Error("a file that is too large was written")
	}
	if got := testfile.Text(t, path); got != want {
		t.Errorf("after a failure the file is\n%s", got)
	}
}

func TestManyChangeAtOnce(t *testing.T) {
	p := permission.New(t.TempDir())
	var all sync.WaitGroup
	for _, tool := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		all.Go(func() {
			if err := p.Allow(tool); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, tool := range []string{"a", "h"} {
		if got, _ := p.Permission(tool); got != permission.AlwaysAllow {
			t.Errorf("%s is %q", tool, got)
		}
	}
}
