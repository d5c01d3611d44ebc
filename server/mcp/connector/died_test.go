package connector

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A deathLog is a log that signals each write.
type deathLog struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan string
}

func (l *deathLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(text)
	l.written <- l.text.String()
	return len(text), nil
}

// introducing is a shell command that completes the handshake of a server.
var introducing = `read -r line; id=${line#*\"id\":}; printf '` + strings.ReplaceAll(hello, "%s", "%s") + `\n' "${id%%,*}"; `

func TestAnExtensionThatDiesIsLogged(t *testing.T) {
	s := newSet(t)
	log := &deathLog{written: make(chan string, 10)}
	s.connector.Log = slog.New(slog.NewTextHandler(log, nil))
	config := extension.Config{
		Type: "stdio", Name: "Frail", Cmd: "sh", EnvKeys: []string{"BOTH"}, Envs: jsonwire.Pairs{{Name: "KEY", Value: "k3y"}},
		Args: []string{"-c", introducing + `read -r line; read -r line; echo first >&2; echo "no $BOTH, and no $KEY either" >&2; echo >&2; exit 1`},
	}
	add(t, s, config)
	_ = s.Call(t.Context(), quiet("frail__x", "{}"))
	got := within(t, "the log", log.written)
	if !strings.Contains(got, `extension=Frail said="no ***, and no *** either"`) {
		t.Errorf("the log is %s", got)
	}
	silent := extension.Config{Type: "stdio", Name: "quiet", Cmd: "sh", Args: []string{"-c", introducing + `echo never >&2; while read -r line; do :; done`}}
	add(t, s, silent)
	s.Remove("quiet")
	select {
	case got := <-log.written:
		t.Errorf("an extension that was removed is told as one that died: %s", got)
	case <-time.After(50 * time.Millisecond):
	}
}

func TestLastLines(t *testing.T) {
	const maxTail = 2 << 10
	long := strings.Repeat("x", maxTail)
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{"a\r\nb\r\n\r\n \n", "b"},
		{"secret-1 and secret", "*** and ***"},
		{long, strings.Repeat("x", maxLastLine)},
		{("cret-1 " + long)[:maxTail], strings.Repeat("x", maxLastLine)},
		{"\xff", "\uFFFD"},
	} {
		if got := lastLine(tc.text, len(tc.text) >= maxTail, []string{"secret-1", "secret"}); got != tc.want {
			t.Errorf("of %.40q: %.40q, want %.40q", tc.text, got, tc.want)
		}
	}
}
