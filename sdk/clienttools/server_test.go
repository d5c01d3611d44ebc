package clienttools

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// The test binary is also the server that StartServer starts.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv("FAKE_SERVER"); behaviour != "" {
		os.Exit(fakeServer(behaviour))
	}
	os.Exit(leak.RunPrograms(m))
}

func fakeServer(behaviour string) int {
	switch behaviour {
	case "ends":
		return 3
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "parent":
		os.Unsetenv("FAKE_SERVER")
		s, err := StartServer(context.Background(), fake("works", nil))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(s.URL)
		select {}
	}
	if got := strings.Join(os.Args[1:], " "); got != "first agent --host 127.0.0.1 --port 0 --exit-with-stdin" {
		fmt.Println("arguments", got)
		return 2
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	fmt.Fprintln(os.Stderr, "a log")
	fmt.Printf("hello\nlistening on http://%s\nserving\n", ln.Addr())
	go func() {
		_ = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Secret-Key") != os.Getenv("GOOSE_SERVER__SECRET_KEY") {
				w.WriteHeader(http.StatusUnauthorized)
			}
			fmt.Fprint(w, `{"success":true}`)
		}))
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	if behaviour == "deaf" {
		select {}
	}
	return 0
}

func fake(behaviour string, out io.Writer) *ServerOptions {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return &ServerOptions{Command: []string{program, "first"}, Env: []string{"FAKE_SERVER=" + behaviour}, Output: out}
}

// S55: the server is started with its arguments and key, and Close ends it.
func TestStartServer(t *testing.T) {
	for _, key := range []string{"", "mine"} {
		var out syncbuffer.Buffer
		options := fake("works", &out)
		options.Client.SecretKey = key
		s, err := StartServer(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		used := s.Client.options.SecretKey
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(used) && used != key || options.Client.SecretKey != key {
			t.Errorf("key %q is used as %q", key, used)
		}
		if err := s.Client.Connect(t.Context()); err != nil {
			t.Errorf("Connect: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close, a second time: %v", err)
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		slices.Sort(got) // the order of two streams
		if want := []string{"a log", "hello", "serving"}; !slices.Equal(got, want) {
			t.Errorf("output %q, want %q", got, want)
		}
	}
}

func TestStartServerExplainsItsFailure(t *testing.T) {
	program := testfile.Program(t)
	for behaviour, want := range map[string]string{
		"ends":   "start server " + program + ": it ended before it listened: exit status 3",
		"silent": "start server " + program + ": enough",
	} {
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), cmp.Or(map[string]time.Duration{"silent": 50 * time.Millisecond}[behaviour], time.Minute), enough)
		s, err := StartServer(ctx, fake(behaviour, nil))
		cancel()
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v, want %s", behaviour, s, err, want)
		}
	}
	if _, err := StartServer(t.Context(), &ServerOptions{Command: []string{"/no/such/program"}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("StartServer: %v, want ErrNotExist", err)
	}
}

// S55: a server that ignores the end of its input is killed.
func TestADeafServerIsKilled(t *testing.T) {
	s, err := StartServer(t.Context(), fake("deaf", nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Client.Close(), s.stop(time.Millisecond)); !errors.Is(err, errKilled) {
		t.Errorf("stop: %v, want errKilled", err)
	}
}

// S55: the server ends with its parent, even if that is killed.
func TestTheServerDoesNotOutliveItsParent(t *testing.T) {
	parent := exec.CommandContext(t.Context(), testfile.Program(t))
	parent.Env = append(os.Environ(), "FAKE_SERVER=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	url, _ := bufio.NewReader(out).ReadString('\n')
	conn, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSpace(url), "http://"))
	if err != nil {
		t.Errorf("%q: %v", url, err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait() // it was killed
	if conn != nil {
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the server is alive: %v", err)
		}
	}
}
