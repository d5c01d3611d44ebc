package signin

import (
	"os/exec"
	"runtime"
	"strings"

	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
)

// A browser opens pages (decision X53).
type browser struct {
	words       []string // of the command; none if nothing is to be started
	directory   string
	environment []string
}

// words returns the words of the command that opens pages.
func words(command string) []string {
	all := strings.FieldsFunc(command, func(c rune) bool { return c == ' ' || c == '\t' })
	switch {
	case len(all) == 1 && all[0] == "none":
		return nil
	case len(all) > 0:
		return all
	}
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}

// open starts the browser, which belongs to the user from then on. The channel gets a value when the page has not been
// opened.
func (b browser) open(page string) (failed <-chan struct{}) {
	none := make(chan struct{}, 1)
	cmd, err := b.start(page)
	if err != nil {
		none <- struct{}{}
		return none
	}
	go func() {
		if cmd.Wait() != nil {
			none <- struct{}{}
		}
	}()
	return none
}

func (b browser) start(page string) (*exec.Cmd, error) {
	if len(b.words) == 0 {
		return nil, exec.ErrNotFound
	}
	path, err := processgroup.Find(b.words[0], b.directory)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, append(b.words[1:len(b.words):len(b.words)], page)...)
	cmd.Args[0] = b.words[0]
	cmd.Dir, cmd.Env = b.directory, b.environment
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	processgroup.Lead(cmd)
	return cmd, cmd.Start()
}
