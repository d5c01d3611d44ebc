package keyring

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
)

// dial connects to a place. A program gets the environment.
func dial(ctx context.Context, p place, environment []string) (net.Conn, error) {
	switch p.transport {
	case "unix":
		name, err := p.socket()
		if err != nil {
			return nil, err
		}
		return (&net.Dialer{}).DialContext(ctx, "unix", name)
	case "unixexec":
		return start(p, environment)
	}
	return nil, fmt.Errorf("the transport %q is not supported", p.transport)
}

// A program is a connection with the standard input and output of a process.
type program struct {
	net.Conn
	end func() error
}

// start starts a program. As in other implementations of unixexec, one socket is its input and its output.
func start(p place, environment []string) (net.Conn, error) {
	path, args, err := p.command()
	if err != nil {
		return nil, err
	}
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "bus"), os.NewFile(uintptr(ends[1]), "bus")
	defer ours.Close() // FileConn duplicates it
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path)
	cmd.Args, cmd.Env, cmd.Stdin, cmd.Stdout = args, environment, theirs, theirs
	processgroup.Lead(cmd)
	if err := cmd.Start(); err != nil {
		conn.Close()
		return nil, err
	}
	return &program{conn, sync.OnceValue(func() error {
		err := conn.Close()
		processgroup.Kill(cmd.Process)
		_ = cmd.Wait() // it was killed
		return err
	})}, nil
}

// Close closes the connection and ends the program.
func (p *program) Close() error { return p.end() }
