//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// canary is in every secret of [TestStoredSecretsStaySecret], after the characters that a mask shows.
const canary = "CANARY"

// TestStoredSecretsStaySecret stores secrets over HTTP, uses them for a model and for extensions, and has operations fail
// that read them. No answer, log, other file or diagnostics may have one.
func TestStoredSecretsStaySecret(t *testing.T) {
	var used atomic.Bool
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer sk-12345-"+canary {
			used.Store(true)
		}
		scripted(w, r)
	}))
	defer model.Close()
	home := t.TempDir()
	cmd := agentd(t, home, model.URL)
	cmd.Env = slices.DeleteFunc(cmd.Env, func(variable string) bool { return strings.HasPrefix(variable, "OPENAI_API_KEY=") })
	s, _ := startCommand(t, home, cmd)
	api := s.api()
	defer api.close()
	answers := &answers{api: api}
	for key, value := range map[string]any{
		"OPENAI_API_KEY": "sk-12345-" + canary,
		"TOKEN":          "12345678" + canary,
		"an object":      object{"password": "x" + canary},
		"a list":         []string{"xxxxxxxx", canary},
	} {
		answers.of(t, "POST", "/config/upsert", upsert(key, value, true))
		answers.of(t, "POST", "/config/read", object{"key": key, "is_secret": true})
		answers.of(t, "POST", "/config/read", object{"key": key, "is_secret": false})
	}
	var started struct{ ID string }
	if err := json.Unmarshal([]byte(answers.of(t, "POST", "/agent/start", object{"working_dir": "/"})), &started); err != nil {
		t.Fatal(err)
	}
	session := started.ID
	answers.of(t, "POST", "/agent/update_provider", object{"session_id": session, "provider": "openai", "model": "gpt-4o"})
	answers.of(t, "POST", "/reply", object{"session_id": session, "messages": []object{message("user", "ask-plain-0123456789abcdef")}})
	// An extension that prints its secret and ends.
	answers.of(t, "POST", "/agent/add_extension", object{"session_id": session, "config": object{
		"type": "stdio", "name": "x", "cmd": "/bin/sh", "args": []string{"-c", "echo token $TOKEN >&2"}, "env_keys": []string{"TOKEN"},
	}})
	answers.of(t, "POST", "/agent/add_extension", object{"session_id": session, "config": object{
		"type": "streamable_http", "name": "y", "description": "", "uri": "http://127.0.0.1:1/$TOKEN", "env_keys": []string{"TOKEN"}, "headers": object{"X": "$TOKEN"},
	}})
	for _, path := range []string{"/config", "/config/validate", "/config/extensions", "/config/slash_commands", "/sessions", "/sessions/" + session, "/sessions/" + session + "/export"} {
		answers.of(t, "GET", path, nil)
	}
	for _, path := range []string{"/config/recover", "/config/backup", "/config/init"} {
		answers.of(t, "POST", path, nil)
	}
	_, diagnostics := testfile.Unzip(t, answers.of(t, "GET", "/diagnostics/"+session, nil))
	answers.add(fmt.Sprint(diagnostics))
	answers.of(t, "POST", "/config/remove", object{"key": "TOKEN", "is_secret": true})
	answers.ofBrokenSecrets(t, filepath.Join(home, "config", "secrets.yaml"), session)
	s.kill()
	if !used.Load() {
		t.Error("the secret was not used for the model")
	}
	answers.add(s.stderr.String())
	answers.add(files(t, home))
	if all := answers.all.String(); strings.Contains(all, canary) || len(all) < 1000 {
		at := strings.Index(all, canary)
		t.Errorf("a secret is in %d bytes of answers, logs and files: ...%s", len(all), all[max(at-300, 0):min(at+100, len(all))])
	}
}

// answers are everything that a server has said.
type answers struct {
	api *api
	all strings.Builder
}

func (a *answers) add(text string) { a.all.WriteString(text + "\n") }

// of sends a request and returns the body of its answer, whatever the status.
func (a *answers) of(t *testing.T, method, path string, body any) string {
	t.Helper()
	answer, err := a.api.do(method, path, body)
	text := string(answer)
	if err != nil {
		text = err.Error()
	}
	a.add(text)
	return text
}

// ofBrokenSecrets breaks the file of secrets in several ways, and uses it each time. It removes the file at the end.
func (a *answers) ofBrokenSecrets(t *testing.T, secrets, session string) {
	t.Helper()
	if !strings.Contains(testfile.Text(t, secrets), canary) {
		t.Fatal("no secret is stored")
	}
	for _, broken := range []string{"TOKEN: *" + canary, "- " + canary, canary + ": 1\n" + canary + ": 2\n", "TOKEN: \"" + canary} {
		testfile.Write(t, secrets, broken)
		a.of(t, "POST", "/config/read", object{"key": "TOKEN", "is_secret": true})
		a.of(t, "POST", "/config/upsert", upsert("TOKEN", canary, true))
		a.of(t, "POST", "/config/remove", object{"key": "TOKEN", "is_secret": true})
		a.of(t, "POST", "/agent/update_provider", object{"session_id": session, "provider": "openai", "model": "gpt-4o"})
	}
	testfile.Remove(t, secrets)
}

// files returns the content of all files of a directory and those below it.
func files(t *testing.T, dir string) string {
	t.Helper()
	var all bytes.Buffer
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all.WriteString(path + "\n")
			all.Write(testfile.Read(t, filepath.Join(dir, path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
