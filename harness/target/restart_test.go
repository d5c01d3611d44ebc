//go:build unix

package target

import (
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

func TestATargetIsStartedAgainWhereItWas(t *testing.T) {
	target := start(t, tenant(File{Path: "a", Data: []byte("1")}))
	url, dir := target.URL().String(), target.dir.Path()
	first := target.Exited()
	if err := target.Restart(t.Context(), time.Time{}); err != nil {
		t.Fatalf("Restart: %v\n%s", err, lines(err))
	}
	if !waiting.IsClosed(first) || waiting.IsClosed(target.Exited()) || target.ExitStatus() != "" {
		t.Errorf("the first has ended: %t, the second: %q", waiting.IsClosed(first), target.ExitStatus())
	}
	if want := []string{"a: 1", "left/behind: x"}; !slices.Equal(found(target), want) {
		t.Errorf("found %q, want %q", found(target), want)
	}
	if got := get(t, target, "/status"); got != http.StatusOK || target.URL().String() != url || target.dir.Path() != dir {
		t.Errorf("GET /status: %d at %s in %s, was at %s in %s", got, target.URL(), target.dir.Path(), url, dir)
	}
	if err := target.Stop(t.Context()); err != nil || !waiting.IsClosed(target.Exited()) {
		t.Errorf("Stop: %v", err)
	}
	isGone(t, dir)
}

func TestATargetThatWasKilledIsStartedAgain(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	target := start(t, c.roleSpec("parent"))
	c.awaitReport("grandchild").awaitLine("settled")
	status, err := target.Kill(t.Context())
	if status != "signal: killed" || err != nil || target.ExitStatus() != status {
		t.Errorf("Kill: %q, %v", status, err)
	}
	_, err = target.Kill(t.Context())
	wantError(t, err, `kill target "parent": it had already ended: signal: killed`)
	target.spec.Stop.Grace = 0
	target.process.skipGrace() // the grandchild gets no time to exit
	if err := target.Restart(t.Context(), time.Time{}); err != nil {
		t.Fatalf("Restart: %v\n%s", err, lines(err))
	}
	c.reported["grandchild"].awaitExit()
	if got := get(t, target, "/status"); got != http.StatusOK {
		t.Errorf("GET /status: %d", got)
	}
	delete(c.reported, "grandchild")
	c.awaitReport("grandchild").awaitLine("settled")
	target.Stop(cancelled())
}

func TestATargetWaitsForAPortInUse(t *testing.T) {
	target := start(t, roleSpec("server"))
	if _, err := target.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	thief, err := net.Listen("tcp", target.URL().Host)
	if err != nil {
		t.Fatal(err)
	}
	err = target.Restart(t.Context(), time.Now().Add(50*time.Millisecond))
	if err == nil || !waiting.IsClosed(target.Exited()) {
		t.Errorf("Restart: %v", err)
	}
	thief.Close()
	if err := target.Restart(t.Context(), time.Time{}); err != nil {
		t.Errorf("Restart: %v", err)
	}
}

func TestATargetThatDoesNotStartAgainHasEnded(t *testing.T) {
	target := start(t, roleSpec("server"))
	target.spec.Env[roleVariable] = "nobody"
	err := target.Restart(t.Context(), time.Time{})
	wantError(t, err, `start target "server": exited before it was ready: exit status 1`)
	if got := lines(err); got != "stderr: no such role: nobody" {
		t.Errorf("log: %s", got)
	}
	if !waiting.IsClosed(target.Exited()) || target.ExitStatus() != "exit status 1" {
		t.Errorf("ExitStatus: %q", target.ExitStatus())
	}
}

func TestATargetThatRunsElsewhereIsNotStartedAgain(t *testing.T) {
	running := start(t, roleSpec("server"))
	target, err := Start(t.Context(), Spec{Name: "ref", URL: running.URL().String()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, target.Restart(t.Context(), time.Time{}), `restart target "ref": the harness did not start it`)
	_, err = target.Kill(t.Context())
	wantError(t, err, `kill target "ref": the harness did not start it`)
}
