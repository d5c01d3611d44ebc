//go:build !unix

package agentsdk

import "os"

func terminate(p *os.Process) error { return p.Kill() }

func signalOf(*os.ProcessState) string { return "" }
