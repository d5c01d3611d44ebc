//go:build !linux

package agentsdk

import "syscall"

func childAttributes() *syscall.SysProcAttr { return nil }
