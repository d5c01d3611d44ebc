//go:build unix

package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

const (
	roleVariable   = "LOCKSTEP_TEST_FAUX"
	reportVariable = "LOCKSTEP_TEST_REPORT"
	homeVariable   = "LOCKSTEP_TEST_HOME"

	upstreamVariable = "LOCKSTEP_TEST_UPSTREAM"
	saidVariable     = "LOCKSTEP_TEST_SAID"
)

// TestMain runs one of two programs. If the environment names a role, the test binary is a server. Otherwise it runs
// the tests and then checks that they have left nothing running.
func TestMain(m *testing.M) {
	if role, ok := os.LookupEnv(roleVariable); ok {
		os.Exit(play(role))
	}
	os.Exit(leak.RunPrograms(m))
}

func play(role string) int {
	if role == "starts-once" {
		if role = "right"; os.Mkdir(os.Getenv(homeVariable)+"/been", 0o700) != nil {
			role = "exits-at-start"
		}
	}
	if role == "host" {
		return playHost()
	}
	if role == "tires" {
		return playTiring()
	}
	if kind, _, _ := strings.Cut(role, " "); kind == "tool" || kind == "driver" {
		return playProgram(role)
	}
	if strings.HasPrefix(role, "asker") {
		return playAsker(role)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	p := &faux.Process{Log: os.Stderr, Exit: os.Exit, Report: os.Getenv(reportVariable), Again: again}
	if len(os.Args) > 1 {
		p.Listen = os.Args[1]
	}
	return p.Play(ctx, role)
}

// playAsker is a server that calls its upstream when it starts.
func playAsker(role string) int {
	a := &faux.Asker{Client: http.DefaultClient, Upstream: os.Getenv(upstreamVariable)}
	err := a.Wake(map[string]int{"asker": 1, "asker-twice": 2}[role])
	if err == nil && role == "asker-blurts" {
		_ = a.Blurt() // the stub refuses this request
	}
	if err == nil {
		err = http.ListenAndServe(os.Args[1], a)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// playTiring is a server that answers /question differently from the second time on.
func playTiring() int {
	var asked atomic.Int64
	err := http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/question" && asked.Add(1) > 1 && os.Getenv(reportVariable) != "" {
			fmt.Fprint(w, "not again")
		}
	}))
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// playHost is a server that has talked to the MCP server "tools". It writes the record that such a server would write.
func playHost() int {
	err := os.WriteFile(os.Getenv(homeVariable)+"/tools.mcp", []byte(os.Getenv(saidVariable)), 0o600)
	if err == nil {
		err = http.ListenAndServe(os.Args[1], &faux.Asker{})
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// again starts this program in another role.
func again(role string) error {
	return faux.Start(os.Args[0], append(os.Environ(), roleVariable+"="+role), os.Stdout)
}
