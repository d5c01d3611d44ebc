//go:build !unix

package extensions

import (
	"os"
	"os/exec"
)

// There are no process groups here: what a process starts is its own business.

func inGroup(*exec.Cmd) {}

func terminate(p *os.Process) { _ = p.Kill() }

func kill(p *os.Process) { _ = p.Kill() }
