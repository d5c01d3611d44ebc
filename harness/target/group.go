//go:build unix

package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A group is a process group that does not outlive the harness.
//
// Its first member, which gives the group its id, is a guard: a shell that ignores signals and reads from a pipe, the
// leash, whose other end only the harness has. It never gets a byte. When the harness is gone, however it went, the
// kernel closes the leash, the read ends, and the guard kills its whole group, itself included.
//
// Why nothing slips through:
//
//   - The target joins the group between fork and exec (SysProcAttr.Pgid), so there is no moment in which it runs and is
//     not a member. Should the harness die right then, the forked child still has its own copy of the leash, and the
//     exec that closes it comes after the joining: the guard cannot act too early.
//   - The leash is close-on-exec as every pipe of package os is, so no child of the harness keeps it, this target's or
//     another's.
//   - The guard says when it ignores signals, and only then is the target started, so that no SIGTERM to the group can
//     catch a guard that is not ready for it.
//   - The guard is waited for last. Until then its pid, even as a zombie's, is in use and with it the group's id: a
//     signal to the group never reaches a stranger.
//   - SIGKILL to a group is atomic with fork on Linux (a child that is being forked dies too); elsewhere it is repeated
//     until nobody is left.
//
// A group owns one goroutine, which ends with the guard.
type group struct {
	id    int // of the group, and the guard's pid
	guard *os.Process
	leash *os.File
	lost  chan struct{} // closed when the guard has died
}

// The signals are those that a program can be expected to send to its own group, as in sh's trap 'kill 0' EXIT, and
// those of a terminal. Everything in the second line is built into the shell: the guard has no children.
const guardScript = `trap '' HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN TTOU
echo ready; read -r _; kill -KILL 0`

// newGroup starts a guard. The group has to be ended with kill.
func newGroup(ctx context.Context) (*group, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	collar, leash, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer collar.Close()
	voice, mouth, err := os.Pipe()
	if err != nil {
		leash.Close()
		return nil, err
	}
	defer mouth.Close()

	guard, err := startChild("/bin/sh", []string{"sh", "-c", guardScript}, &os.ProcAttr{
		Dir:   "/", // so that it keeps no directory in use
		Env:   []string{},
		Files: []*os.File{collar, mouth, null},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		leash.Close()
		voice.Close()
		return nil, err
	}
	g := &group{id: guard.Pid, guard: guard, leash: leash, lost: make(chan struct{})}
	ready := make(chan struct{})
	mouth.Close() // or the voice would not end with the guard
	go g.listen(voice, ready)
	select {
	case <-ready:
		return g, nil
	case <-g.lost:
		err = errors.New("it ended at once")
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	g.signal(syscall.SIGKILL)
	g.dismiss()
	return nil, err
}

// listen closes ready at the guard's first word, and lost when it can speak no more, which is when it has died.
func (g *group) listen(voice *os.File, ready chan<- struct{}) {
	defer close(g.lost)
	defer voice.Close()
	word := make([]byte, 16)
	if n, _ := voice.Read(word); n == 0 {
		return
	}
	close(ready)
	for {
		if n, _ := voice.Read(word); n == 0 {
			return
		}
	}
}

// attributes make a process that is being started a member.
func (g *group) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: g.id}
}

// signal sends to all members. Not to be called after kill has returned nil: the id can be somebody else's then.
func (g *group) signal(s syscall.Signal) {
	// The one error that matters, a member that may not be signalled, shows as a member that does not go away.
	_ = syscall.Kill(-g.id, s)
}

// hasOthers reports whether a member but for the guard is alive; false also when that cannot be seen.
func (g *group) hasOthers(ctx context.Context) bool {
	pids, _ := members(ctx, g.id)
	return slices.ContainsFunc(pids, func(pid int) bool { return pid != g.id })
}

// kill ends every member and returns when they are gone. When some are still there as ctx ends, the error names them
// with the context's cause, and the group goes on.
func (g *group) kill(ctx context.Context) error {
	for wait := time.Millisecond; ; wait = min(2*wait, lastPoll) {
		g.signal(syscall.SIGKILL)
		alive, err := members(ctx, g.id)
		switch {
		case err != nil && ctx.Err() == nil:
			g.dismiss()
			return fmt.Errorf("processes were killed, but whether they are gone cannot be seen: %w", err)
		case err == nil && len(alive) == 0:
			g.dismiss()
			return nil
		case !pause(ctx, wait):
			g.leash.Close()
			return fmt.Errorf("process %s: %w", strings.Trim(fmt.Sprint(alive), "[]"), context.Cause(ctx))
		}
	}
}

// dismiss waits for a guard that has been killed. With it the group's id is free.
func (g *group) dismiss() {
	g.leash.Close()
	<-g.lost
	_, _ = waitChild(g.guard) // how a killed process ended is no news
}
