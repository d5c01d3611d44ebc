//go:build linux

package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// stubborn is an extension that completes the handshake, starts a process, and ignores every signal that it can.
const stubborn = `trap "" HUP TERM; read -r line; id=${line#*\"id\":}
printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}\n' "${id%%,*}"
sleep 60 & echo $$ $! > pids.new; mv pids.new pids; exec sleep 60`

func TestProcessesOfExtensionsEndWithAServerThatIsKilled(t *testing.T) {
	home := t.TempDir()
	script, pids := filepath.Join(home, "extension.sh"), filepath.Join(home, "pids")
	testfile.Write(t, script, "cd "+home+"\n"+stubborn)
	s, _ := startServer(t, home, "http://127.0.0.1:1", "PATH="+os.Getenv("PATH"))
	body := `{"session_id":"x","config":{"type":"stdio","name":"x","description":"","cmd":"sh","args":["` + script + `"]}}`
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/agent/add_extension", strings.NewReader(body))
	request.Header = http.Header{"X-Secret-Key": {"test"}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if said, _ := io.ReadAll(response.Body); response.StatusCode != 200 {
		t.Fatalf("%d %s", response.StatusCode, said)
	}
	var running []string
	eventually(t, "the extension starts a process", func() bool {
		text, _ := os.ReadFile(pids)
		running = strings.Fields(string(text))
		return len(running) == 2
	})
	s.kill()
	for _, pid := range running {
		eventually(t, "every process of an extension ends with the server", func() bool {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			_, state, _ := strings.Cut(string(stat), ") ")
			return err != nil || strings.HasPrefix(state, "Z")
		})
	}
}
