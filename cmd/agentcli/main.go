// Command agentcli plays a coding-agent CLI from a script, for tests and demonstrations of programs that drive one. It
// needs no account and no model, and never runs another program. agentcli --help describes it.
package main

import (
	"bufio"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

//go:embed help.txt
var help string

// signals has the exit code for each signal that ends the CLI.
var signals = map[os.Signal]int{os.Interrupt: 0, syscall.SIGTERM: 143, syscall.SIGHUP: 129}

func main() {
	caught := make(chan os.Signal, 1)
	for s := range signals {
		signal.Notify(caught, s)
	}
	go func() { os.Exit(signals[<-caught]) }()
	os.Exit(run(os.Args[1:], os.LookupEnv, os.Stdin, os.Stdout, os.Stderr))
}

// run returns the exit code.
func run(args []string, lookup func(string) (string, bool), stdin io.Reader, stdout, stderr io.Writer) int {
	own := map[string]string{}
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch name {
		case "--help", "-h":
			fmt.Fprint(stdout, help)
			return 0
		case "--script", "--log":
			if !joined && i+1 < len(args) {
				value = args[i+1]
			}
			own[name] = value
		}
	}
	script, _ := lookup("AGENTCLI_SCRIPT")
	log, _ := lookup("AGENTCLI_LOG")
	err := play(cmp.Or(own["--script"], script), cmp.Or(own["--log"], log), args, stdin, stdout, stderr)
	if code, ok := errors.AsType[exit](err); ok {
		return int(code)
	} else if err != nil {
		fmt.Fprintf(stderr, "agentcli: %v\n", err)
		return 1
	}
	return 0
}

func play(script, log string, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if script == "" {
		return errors.New("no script: set AGENTCLI_SCRIPT to a file, or pass --script FILE; agentcli --help shows an example")
	}
	text, err := os.ReadFile(script)
	if err != nil {
		return fmt.Errorf("read the script: %w", err)
	}
	parsed, err := parse(script, text)
	if err != nil {
		return err
	}
	w := &wire{session: parsed.session, in: bufio.NewScanner(stdin), out: stdout, stderr: stderr, made: map[string]int{}}
	w.in.Buffer(make([]byte, 64<<10), maxLine)
	if log != "" {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("write the log: %w", err)
		}
		defer f.Close()
		w.log = f
	}
	c := &cli{wire: w, script: parsed, args: args, model: parsed.model, mode: flag(args, "--permission-mode", "default"), seen: map[string]int{}}
	return (&player{c: c}).run()
}

// An exit ends the process with a code, and without a message.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }
