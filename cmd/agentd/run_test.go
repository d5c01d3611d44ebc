package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/httpapi/access"
	pathsettings "github.com/lockstep-dev/lockstep/server/settings"
)

func TestMain(m *testing.M) {
	beExtension()
	beAgentd()
	os.Exit(leak.Run(m))
}

// environment returns a lookup in a map. The home directory has no configuration file.
func environment(t *testing.T, variables map[string]string) lookup {
	t.Helper()
	all := map[string]string{"HOME": t.TempDir(), "GOOSE_PATH_ROOT": t.TempDir()}
	for name, value := range variables {
		all[name] = value
	}
	return func(name string) (string, bool) {
		value, ok := all[name]
		return value, ok
	}
}

// file writes a configuration file and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	testfile.Write(t, path, content)
	return path
}

const (
	// inFile begins the contents of a file in place of its path.
	inFile = "contents:"

	notMillis  = "it must be a whole number of milliseconds, at least 1"
	notOrigins = "it must be *, or origins such as https://app.example or http://10.0.0.1:8080, without the scheme's own port"
)

func config(content string) []string { return []string{"agent", "--config", inFile + content} }

// written writes the files of which a test gives the contents, and returns their paths.
func written(t *testing.T, texts []string) []string {
	t.Helper()
	texts = slices.Clone(texts)
	for i, text := range texts {
		if content, ok := strings.CutPrefix(text, inFile); ok {
			texts[i] = file(t, content)
		}
	}
	return texts
}

var mistakes = []struct {
	name   string
	args   []string
	env    map[string]string
	stderr []string
}{
	{"no command", nil, nil, []string{"agentd: no command: the one that serves is `agentd agent`, and `agentd agent --help` explains it"}},
	{"an unknown command", []string{"agnt"}, nil, []string{"agentd: unknown command \"agnt\": the command that serves is `agentd agent`"}},
	{"an unknown flag", []string{"agent", "--prot=1"}, nil, []string{"agentd: unknown flag: --prot (`agentd agent --help` lists the flags)"}},
	{"a flag without its value", []string{"agent", "--port"}, nil, []string{"agentd: flag needs an argument: --port (`agentd agent --help` lists the flags)"}},
	{"an argument", []string{"agent", "here"}, nil, []string{`agentd: unknown command "here" for "agentd agent"`}},
	{"a host name", []string{"agent", "--host", "localhost"}, nil, []string{`agentd: --host is "localhost"; it must be an IP address, such as 127.0.0.1 or ::1`}},
	{"an empty flag", []string{"agent", "--port", ""}, nil, []string{`agentd: --port is ""; it must be a whole number from 0 to 65535`}},
	{"an empty directory", []string{"agent", "--directory", ""}, nil, []string{`agentd: --directory is ""; it must be a path`}},
	{"a port that is none", []string{"agent", "--port", "65536"}, nil, []string{`agentd: --port is "65536"; it must be a whole number from 0 to 65535`}},
	{"a bad variable", []string{"agent"}, map[string]string{"GOOSE_PORT": "http"}, []string{`agentd: GOOSE_PORT is "http"; it must be a whole number from 0 to 65535`}},
	{"every mistake at once", []string{"agent", "--max-body", "0", "--keepalive-interval=-5"},
		map[string]string{"AGENTD_DEFAULT_TIMEOUT": "1.5", "AGENTD_MAX_BODY": "1"},
		[]string{
			`agentd: AGENTD_DEFAULT_TIMEOUT is "1.5"; ` + notMillis,
			`agentd: --keepalive-interval is "-5"; ` + notMillis,
			`agentd: --max-body is "0"; it must be a whole number of bytes, at least 1`,
		}},
	{"what another overrides", []string{"agent", "--port", "0", "--config", inFile + `{"clientTools": {"defaultTimeout": "x"}}`, "--default-timeout", "5"},
		map[string]string{"GOOSE_PORT": "x", "GOOSE_HOST": "localhost"}, []string{
			`agentd: GOOSE_HOST is "localhost"; it must be an IP address, such as 127.0.0.1 or ::1`,
			`agentd: GOOSE_PORT is "x"; it must be a whole number from 0 to 65535`,
			`agentd: CONFIG: clientTools.defaultTimeout is "x"; ` + notMillis,
		}},
	{"too few agents", []string{"agent"}, map[string]string{"GOOSE_MAX_ACTIVE_AGENTS": "0"}, []string{`agentd: GOOSE_MAX_ACTIVE_AGENTS is "0"; it must be a whole number, at least 1`}},
	{"nowhere to keep anything", []string{"agent"}, map[string]string{"HOME": "", "GOOSE_PATH_ROOT": ""}, []string{"agentd: neither GOOSE_PATH_ROOT nor HOME says where sessions and settings are kept"}},
	{"numbers that are not digits", []string{"agent", "--port", "1e1", "--default-timeout", " 5", "--keepalive-interval", "5.0", "--max-body", "+5"}, nil, []string{
		`agentd: --port is "1e1"; it must be a whole number from 0 to 65535`,
		`agentd: --default-timeout is " 5"; ` + notMillis,
		`agentd: --keepalive-interval is "5.0"; ` + notMillis,
		`agentd: --max-body is "+5"; it must be a whole number of bytes, at least 1`,
	}},
	{"a bad value in the file", config(`{"clientTools": {"keepaliveInterval": "fast", "defaultTimeout": 0}}`), nil, []string{
		`agentd: CONFIG: clientTools.defaultTimeout is 0; ` + notMillis,
		`agentd: CONFIG: clientTools.keepaliveInterval is "fast"; ` + notMillis,
	}},
	{"null in the file", config(`{"clientTools": {"defaultTimeout": null}}`), nil, []string{`agentd: CONFIG: clientTools.defaultTimeout is null; ` + notMillis}},
	{"client tools that are no object", config(`{"clientTools": [1, 2]}`), nil, []string{`agentd: CONFIG: clientTools is [1,2]; it must be an object`}},
	{"a file that is no object", config(`[]`), nil, []string{`agentd: CONFIG is []; it must be an object`}},
	{"a file that is not JSON", config(`{"clientTools": }`), nil, []string{`agentd: CONFIG is not JSON: `}},
	{"an empty file", config(``), nil, []string{`agentd: CONFIG is not JSON: `}},
	{"bad bounds in the file", config(`{"clientTools": {"maxTools": 0, "maxClients": "many"}}`), nil, []string{
		`agentd: CONFIG: clientTools.maxTools is 0; it must be a whole number, at least 1`,
		`agentd: CONFIG: clientTools.maxClients is "many"; it must be a whole number, at least 1`,
	}},
	{"bad rules of client tools", config(`{"clientTools": {"permission": {"a": "allow", "b": "maybe"}, "rateLimit": {"calls": -1, "windowMs": 0}}, "allowedOrigins": ["null"]}`), nil, []string{
		`agentd: CONFIG: clientTools.rateLimit.calls is -1; it must be a whole number, at least 0`,
		`agentd: CONFIG: clientTools.rateLimit.windowMs is 0; ` + notMillis,
		`agentd: CONFIG: clientTools.permission is {"a":"allow","b":"maybe"}; it must be allow, ask or deny, or an object from patterns of tool IDs to one of these`,
		`agentd: CONFIG: allowedOrigins is ["null"]; ` + notOrigins,
	}},
	// The hooks of decision S83.
	{"invalid hooks", config(`{"hooks": {"before": [{"match": "*", "command": ["x"], "timeoutMs": 0}, {"match": 1, "command": []}, {"command": ["", "a"], "match": "", "timeoutMs": 1.5},
		{"match": "*", "command": ["x", 1], "timeoutMs": 60001}, 7], "after": {}}}`), nil, []string{
		`agentd: CONFIG: hooks.before[0].timeoutMs must be a whole number from 1 to 60000`,
		`agentd: CONFIG: hooks.before[1].match must be a pattern of names of tools, such as *`,
		`agentd: CONFIG: hooks.before[1].command must be a list of texts: a program and its arguments`,
		`agentd: CONFIG: hooks.before[2].command must be a list of texts: a program and its arguments`,
		`agentd: CONFIG: hooks.before[2].timeoutMs must be a whole number from 1 to 60000`,
		`agentd: CONFIG: hooks.before[3].command must be a list of texts: a program and its arguments`,
		`agentd: CONFIG: hooks.before[3].timeoutMs must be a whole number from 1 to 60000`,
		`agentd: CONFIG: hooks.before[4] is 7; it must be an object such as {"match": "*", "command": ["program"]}`,
		`agentd: CONFIG: hooks.after is {}; it must be a list of hooks`,
	}},
	{"hooks that are no object", config(`{"hooks": []}`), nil, []string{`agentd: CONFIG: hooks is []; it must be an object`}},
	{"too many hooks", config(`{"hooks": {"after": [` + strings.Repeat(`{"match":"","command":["x"]},`, 64) + `1]}}`), nil, []string{
		`agentd: CONFIG: hooks.after has more than 64 hooks`,
	}},
	{"a rate limit that is no object", config(`{"clientTools": {"permission": 1, "rateLimit": 5}}`), nil, []string{
		`agentd: CONFIG: clientTools.rateLimit is 5; it must be an object`,
		`agentd: CONFIG: clientTools.permission is 1; it must be allow, ask or deny, or an object from patterns of tool IDs to one of these`,
	}},
	{"origins that are none", []string{"agent", "--allow-origin", "*", "--allow-origin", "http://x:80", "--host-name", "x:1"}, map[string]string{"AGENTD_ALLOWED_ORIGINS": "http://x,"}, []string{
		`agentd: --allow-origin is "*,http://x:80"; ` + notOrigins,
		`agentd: AGENTD_ALLOWED_ORIGINS is "http://x,"; ` + notOrigins,
		`agentd: --host-name is "x:1"; it must be the name of a host, without a port`,
	}},
	{"no grace", []string{"agent", "--body-grace", "0"}, map[string]string{"AGENTD_BODY_GRACE": "fast"}, []string{
		`agentd: --body-grace is "0"; ` + notMillis, `agentd: AGENTD_BODY_GRACE is "fast"; ` + notMillis,
	}},
	{"an empty secret", []string{"agent", "--insecure"}, map[string]string{"GOOSE_SERVER__SECRET_KEY": ""}, []string{
		"agentd: GOOSE_SERVER__SECRET_KEY is empty; it must be the secret that requests bring, or not be set",
	}},
	{"the default secret for everybody", []string{"agent", "--host", "0.0.0.0"}, nil, []string{
		`agentd: GOOSE_SERVER__SECRET_KEY is "test", which everybody knows, and --host 0.0.0.0 is not loopback; set another secret, or say --insecure`,
	}},
	{"and when it is given", []string{"agent"}, map[string]string{"GOOSE_HOST": "::", "GOOSE_SERVER__SECRET_KEY": "test"}, []string{
		`agentd: GOOSE_SERVER__SECRET_KEY is "test", which everybody knows, and --host :: is not loopback; set another secret, or say --insecure`,
	}},
	{"a file that is not there", []string{"agent", "--config", "/nowhere/config.json"}, nil, []string{"agentd: configuration file: open /nowhere/config.json: no such file or directory"}},
	{"nor by a variable", []string{"agent"}, map[string]string{"AGENTD_CONFIG": "/nowhere"}, []string{"agentd: configuration file: open /nowhere: no such file or directory"}},
}

// TestMistakesAreUsageErrors checks that every mistake is found at the start, before any request
// (decision S7).
func TestMistakesAreUsageErrors(t *testing.T) {
	for _, tc := range mistakes {
		t.Run(tc.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			tc.args = written(t, tc.args)
			status := run(t.Context(), tc.args, environment(t, tc.env), &stdout, &stderr)
			if status != exitUsage || stdout.Len() > 0 {
				t.Errorf("run %q: status %d, stdout %q; want 2 and nothing", tc.args, status, &stdout)
			}
			got := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
			want := make([]string, len(tc.stderr))
			for i, line := range tc.stderr {
				if i := slices.Index(tc.args, "--config"); i >= 0 {
					line = strings.Replace(line, "CONFIG", tc.args[i+1], 1)
				}
				want[i] = line
				if i < len(got) && strings.HasSuffix(line, "JSON: ") && strings.HasPrefix(got[i], line) {
					want[i] = got[i] // the parser's own words follow
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("run %q: stderr (-want +got):\n%s", tc.args, diff)
			}
		})
	}
}

// timeouts is a configuration file.
const timeouts = inFile + "\uFEFF" + `{"other": [], "clientTools": {"defaultTimeout": 7e2, "keepaliveInterval": 1000.0, "other": "x"}}`

// A source gives settings that differ from the defaults.
type source struct {
	name string
	args []string
	env  map[string]string
	// change is from the defaults, or nil.
	change func(*settings)
}

var sources = []source{
	{"nowhere", nil, nil, nil},
	{"empty variables", nil, map[string]string{"GOOSE_HOST": "", "GOOSE_PORT": "", "AGENTD_CONFIG": "", "AGENTD_DIRECTORY": "", "AGENTD_MAX_BODY": ""}, nil},
	{"no home", nil, map[string]string{"HOME": ""}, nil},
	{"variables", nil, map[string]string{
		"GOOSE_HOST": "::1", "GOOSE_PORT": "0", "AGENTD_DIRECTORY": "a/../b", "AGENTD_DEFAULT_TIMEOUT": "1", "AGENTD_KEEPALIVE_INTERVAL": "2", "AGENTD_MAX_BODY": "3", "AGENTD_BODY_GRACE": "4",
	}, func(s *settings) {
		s.host, s.port, s.directory, s.maxBody = "::1", 0, "a/../b", 3
		s.defaultTimeout, s.keepaliveInterval, s.bodyGrace = time.Millisecond, 2*time.Millisecond, 4*time.Millisecond
	}},
	{"flags before variables", []string{"--port", "65535", "--host=0.0.0.0", "--insecure"}, map[string]string{"GOOSE_HOST": "::", "GOOSE_PORT": "1"},
		func(s *settings) { s.host, s.port, s.insecure = "0.0.0.0", 65535, true }},
	{"a secret for everybody", []string{"--host=0.0.0.0"}, map[string]string{"GOOSE_SERVER__SECRET_KEY": "tes"},
		func(s *settings) { s.host, s.secretKey = "0.0.0.0", "tes" }},
	{"the default secret on loopback", []string{"--host=127.1.2.3"}, map[string]string{"GOOSE_SERVER__SECRET_KEY": "test"},
		func(s *settings) { s.host = "127.1.2.3" }},
	{"bounds", []string{"--config", inFile + `{"clientTools": {"maxTools": 5, "maxClients": 6e0}}`}, nil,
		func(s *settings) { s.bounds = clienttools.Bounds{MaxTools: 5, MaxClients: 6} }},
	{"rules of client tools", []string{"--config", inFile + `{"clientTools": {"permission": {"client_a_*": "ask", "*": "deny"}, "rateLimit": {"calls": 0, "windowMs": 5}}, "allowedOrigins": ["https://x"]}`}, nil,
		func(s *settings) {
			s.permissions = clienttools.Permissions{{Pattern: "client_a_*", Permission: "ask"}, {Pattern: "*", Permission: "deny"}}
			s.rateLimit = clienttools.RateLimit{Window: 5 * time.Millisecond}
			s.origins.Origins = []string{"https://x"}
		}},
	{"hooks", []string{"--config", inFile + `{"hooks": {"before": [{"match": "dev__*", "command": ["a", ""], "timeoutMs": 6e4, "x": 1}], "after": [{"match": "", "command": ["b"]}]}}`}, nil,
		func(s *settings) {
			s.hooks.Before = []hooks.Hook{{Match: "dev__*", Command: []string{"a", ""}, Timeout: time.Minute}}
			s.hooks.After = []hooks.Hook{{Command: []string{"b"}, Timeout: 5 * time.Second}}
		}},
	{"one permission", []string{"--config", inFile + `{"clientTools": {"permission": "ask"}}`}, nil,
		func(s *settings) { s.permissions = clienttools.Permissions{{Pattern: "*", Permission: "ask"}} }},
	{"origins", []string{"--allow-origin", "https://a", "--allow-origin=http://b:8080", "--host-name", "Box.lan"}, map[string]string{"AGENTD_ALLOWED_ORIGINS": "*"},
		func(s *settings) {
			s.origins = access.Rules{Origins: []string{"https://a", "http://b:8080"}, HostName: "Box.lan"}
		}},
	{"origins of a variable", nil, map[string]string{"AGENTD_ALLOWED_ORIGINS": "https://a,*", "AGENTD_HOST_NAME": "b"},
		func(s *settings) { s.origins = access.Rules{Origins: []string{"https://a", "*"}, HostName: "b"} }},
	{"the file", []string{"--config", timeouts}, nil,
		func(s *settings) { s.defaultTimeout, s.keepaliveInterval = 700*time.Millisecond, time.Second }},
	{"variables before the file", nil, map[string]string{"AGENTD_CONFIG": timeouts, "AGENTD_DEFAULT_TIMEOUT": "9"},
		func(s *settings) { s.defaultTimeout, s.keepaliveInterval = 9*time.Millisecond, time.Second }},
	{"flags before the file", []string{"--config", timeouts, "--keepalive-interval", "8"}, map[string]string{"AGENTD_CONFIG": "/nowhere"},
		func(s *settings) { s.defaultTimeout, s.keepaliveInterval = 700*time.Millisecond, 8*time.Millisecond }},
	{"what has no flag", nil, map[string]string{"GOOSE_SERVER__SECRET_KEY": "s3cret", "GOOSE_MAX_ACTIVE_AGENTS": "7"},
		func(s *settings) { s.secretKey, s.maxActiveAgents = "s3cret", 7 }},
	{"a file without client tools", []string{"--config", inFile + `{}`}, nil, nil},
	{"a time beyond every timer", []string{"--default-timeout", "0099999999999999999999"}, nil,
		func(s *settings) { s.defaultTimeout = 2147483647 * time.Millisecond }},
}

func TestWhereSettingsComeFrom(t *testing.T) {
	wd := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(wd, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(link) // the working directory is a physical path (decision S37)
	defaults := settings{host: "127.0.0.1", port: 3000, directory: wd, defaultTimeout: 30 * time.Second, keepaliveInterval: 30 * time.Second, maxBody: 52428800,
		bodyGrace: 10 * time.Second, bounds: clienttools.Bounds{MaxTools: 1000, MaxClients: 10000}, rateLimit: clienttools.DefaultRateLimit, secretKey: "test"}
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "opencode"), 0o700); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(home, ".config", "opencode", "config.json"), `{"clientTools": {"defaultTimeout": 5}}`)
	atHome := source{"the file at home", nil, map[string]string{"HOME": home}, func(s *settings) { s.defaultTimeout = 5 * time.Millisecond }}
	for _, tc := range append(slices.Clone(sources), atHome) {
		t.Run(tc.name, func(t *testing.T) {
			cmd := new(cobra.Command)
			flags := addFlags(cmd)
			if err := cmd.ParseFlags(written(t, tc.args)); err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			env := map[string]string{"GOOSE_PATH_ROOT": root, "GOOSE_CACHE_DIR": "/c"}
			for name, value := range tc.env {
				env[name] = written(t, []string{value})[0]
			}
			insecure, _ := cmd.Flags().GetBool(insecureFlag)
			got, err := readSettings(flags, insecure, environment(t, env))
			if err != nil {
				t.Fatal(err)
			}
			want := defaults
			if tc.change != nil {
				tc.change(&want)
			}
			want.directories = pathsettings.Below(root)
			want.directories.Cache = "/c"
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{})); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAgentServesUntilASignal runs the command on a real port.
func TestAgentServesUntilASignal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, stdout := io.Pipe()
	var stderr syncbuffer.Buffer
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"agent", "--port", "0", "--directory", "/project"}, environment(t, nil), stdout, &stderr)
		stdout.Close()
	}()
	var url string
	if _, err := fmt.Fscanf(out, "listening on %s\n", &url); err != nil {
		t.Fatalf("%v; stderr: %s", err, &stderr)
	}
	if !strings.HasPrefix(url, "http://127.0.0.1:") || strings.HasSuffix(url, ":0") {
		t.Errorf("listening on %s, want a real port of 127.0.0.1", url)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url + "/status")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if string(body) != "ok" {
		t.Errorf("GET /status: %q", body)
	}
	cancel()
	if rest, _ := io.ReadAll(out); len(rest) > 0 {
		t.Errorf("more on standard output: %q", rest)
	}
	if got := <-status; got != exitOK {
		t.Errorf("status %d after a stop, want 0; stderr: %s", got, &stderr)
	}
}

// TestAgentServesUntilItsInputEnds leaves the input open until the server listens (decision S55).
func TestAgentServesUntilItsInputEnds(t *testing.T) {
	in, parent := io.Pipe()
	out, stdout := io.Pipe()
	root := rootCommand(environment(t, nil))
	root.SetArgs([]string{"agent", "--port", "0", "--exit-with-stdin"})
	root.SetIn(in)
	root.SetOut(stdout)
	root.SetErr(io.Discard)
	ended := make(chan error, 1)
	go func() {
		ended <- root.ExecuteContext(t.Context())
		stdout.Close()
	}()
	if _, err := fmt.Fscanf(out, "listening on %s\n", new(string)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(parent, "what it reads is ignored\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("the server ended before its input: %v", err)
	default:
	}
	parent.Close()
	if rest, _ := io.ReadAll(out); len(rest) > 0 {
		t.Errorf("more on standard output: %q", rest)
	}
	if err := <-ended; err != nil {
		t.Errorf("after the end of the input: %v, want nil", err)
	}
}

func TestTheAddressIsShownAsItWasGiven(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1", "::FFFF:7f00:1"} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // it listens, prints its address, and stops
		var stdout, stderr bytes.Buffer
		if err := serve(ctx, settings{host: host, directory: "/project", defaultTimeout: time.Second, keepaliveInterval: time.Second, maxBody: 1, directories: pathsettings.Below(t.TempDir())}, environment(t, nil), &stdout, &stderr); err != nil {
			t.Errorf("serve on %s: %v", host, err)
		}
		if want := "listening on http://" + net.JoinHostPort(host, ""); !strings.HasPrefix(stdout.String(), want) {
			t.Errorf("said %q, want %s…", &stdout, want)
		}
	}
}

func TestAPortInUseIsAFailure(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), []string{"agent", "--port", port}, environment(t, nil), &stdout, &stderr)
	if status != exitFailed || stdout.Len() > 0 || !strings.Contains(stderr.String(), "agentd: listen tcp4 127.0.0.1:"+port) {
		t.Errorf("status %d, stdout %q, stderr %q; want 1 and the address", status, &stdout, &stderr)
	}
}

func TestADataDirectoryThatCannotBeCreatedIsAFailure(t *testing.T) {
	root := file(t, "")
	for _, root := range []string{root, root + "/below", "/proc/nothing/can/be/made/here"} {
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), []string{"agent", "--port", "0"}, environment(t, map[string]string{"GOOSE_PATH_ROOT": root}), &stdout, &stderr)
		said := stderr.String()
		if status != exitFailed || stdout.Len() > 0 || !strings.HasPrefix(said, `agentd: GOOSE_PATH_ROOT is "`+root+`": `) || strings.Count(said, "\n") != 1 {
			t.Errorf("status %d, stdout %q, stderr %q; want 1 and one line that names the variable and the path", status, &stdout, said)
		}
	}
}

// TestLogsThatCannotBeWrittenAreReportedOnce puts a file where the logs directory belongs (decision S47).
func TestLogsThatCannotBeWrittenAreReportedOnce(t *testing.T) {
	places := pathsettings.Below(t.TempDir())
	testfile.Write(t, places.State, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it listens, prints its address, and stops
	var stdout, stderr bytes.Buffer
	status := run(ctx, []string{"agent", "--port", "0"}, environment(t, map[string]string{"GOOSE_PATH_ROOT": filepath.Dir(places.State), "GOOSE_SERVER__SECRET_KEY": "x"}), &stdout, &stderr)
	if said := stderr.String(); status != exitOK || !strings.HasPrefix(said, "the log file is not written: ") || strings.Count(said, places.State) != 1 {
		t.Errorf("status %d, stdout %q, stderr %q; want 0 and one line about the log", status, &stdout, said)
	}
}

func TestTheVersion(t *testing.T) {
	for _, args := range [][]string{{"--version"}, {"agent", "--version"}, {"mcp", "--version"}} {
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), args, environment(t, nil), &stdout, &stderr); status != exitOK || stdout.String() != "agentd 1.16.0\n" || stderr.Len() > 0 {
			t.Errorf("%q: status %d, stdout %q, stderr %q", args, status, &stdout, &stderr)
		}
	}
}

func TestAnOutputThatIsClosedIsAFailure(t *testing.T) {
	var stderr bytes.Buffer
	status := run(t.Context(), []string{"agent", "--port", "0"}, environment(t, nil), closed{}, &stderr)
	if status != exitFailed || !strings.Contains(stderr.String(), errClosed.Error()) {
		t.Errorf("status %d, stderr %q; want 1 and the reason", status, &stderr)
	}
}

var errClosed = errors.New("nobody reads this")

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }

func TestHelpNamesEverySetting(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"agent", "--help"}, environment(t, nil), &stdout, &stderr); status != exitOK || stderr.Len() > 0 {
		t.Errorf("status %d, stderr %q", status, &stderr)
	}
	for _, o := range options {
		wanted := []string{"--" + o.flag, o.env, o.usage, "(default " + o.byDefault + ")"}
		if o.flag == "" {
			wanted = []string{`"` + o.key[strings.LastIndexByte(o.key, '.')+1:] + `": `, o.byDefault}
		}
		for _, want := range wanted {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("the help does not say %q:\n%s", want, &stdout)
			}
		}
	}
}

func TestTheSecondSignalDoesNotWait(t *testing.T) {
	for _, tc := range []struct {
		name    string
		signals int
		status  int // of the run, if it ends
		ends    bool
		want    int
	}{
		{"no signal", 0, exitUsage, true, exitUsage},
		{"one signal", 1, exitOK, true, exitOK},
		{"two signals", 2, 0, false, exitFailed},
	} {
		signals, status := make(chan os.Signal, 2), make(chan int, 1)
		for range tc.signals {
			signals <- os.Interrupt
		}
		ctx, stop := context.WithCancelCause(t.Context())
		told := func(cause error) {
			stop(cause)
			if tc.ends {
				status <- tc.status
			}
		}
		if tc.signals == 0 {
			status <- tc.status
		}
		if got := wait(signals, told, status); got != tc.want {
			t.Errorf("%s: status %d, want %d", tc.name, got, tc.want)
		}
		if stopped := errors.Is(context.Cause(ctx), errSignal); stopped != (tc.signals > 0) {
			t.Errorf("%s: stopped: %t", tc.name, stopped)
		}
		stop(nil)
	}
}
