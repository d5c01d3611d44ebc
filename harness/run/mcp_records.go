package run

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub/mcp/record"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const maxRecordBytes = 64 << 20

// recordInterval is how often records are read again while their lengths differ.
const recordInterval = 20 * time.Millisecond

// mcpRecords reads what the target has sent to the MCP servers that it starts. These servers write records below the
// target's directory. The records become steps, one for each method of each server, next to the steps of upstreams.
type mcpRecords struct {
	*targetRun
	latest []transcript.Step // as of the last read
}

// read reads the current records and returns the number of messages of each method.
func (m *mcpRecords) read() requestCounts {
	m.latest = m.steps()
	counts := requestCounts{}
	for _, s := range m.latest {
		counts[s.ID] = len(s.Exchanges)
	}
	return counts
}

// steps returns what the target has sent so far. The steps have the order in which each method of a server was first
// called. A record that cannot be read is a fault.
func (m *mcpRecords) steps() []transcript.Step {
	if m.target.Directory == "" {
		return nil
	}
	root, err := os.OpenRoot(m.target.Directory) // an os.Root does not follow symbolic links to the outside
	if err != nil {
		return []transcript.Step{m.unreadable(record.Suffix, err)}
	}
	defer root.Close()
	pattern := m.t.Unique + "*" + record.Suffix
	if m.scenario.Fresh { // then no other scenario uses this target's servers
		pattern = "*" + record.Suffix
	}
	names, err := fs.Glob(root.FS(), pattern)
	if err != nil {
		return []transcript.Step{m.unreadable(record.Suffix, err)}
	}
	var out []transcript.Step
	for _, name := range names {
		messages, err := readRecord(root, name)
		if err != nil {
			out = append(out, m.unreadable(name, err))
			continue
		}
		out = append(out, m.stepsOf(m.serverName(name), messages)...)
	}
	return out
}

// readRecord reads a file if it is a regular one, because the target could put anything there.
func readRecord(root *os.Root, name string) ([]record.Message, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return record.Read(file, maxRecordBytes)
}

// serverName returns the name of a server. It is the file name of its record without the scenario's token.
func (m *mcpRecords) serverName(file string) string {
	name := strings.TrimPrefix(strings.TrimSuffix(file, record.Suffix), m.t.Unique)
	return cmp.Or(strings.ReplaceAll(strings.Trim(name, "-_."), ".", "-"), "mcp")
}

func (m *mcpRecords) unreadable(name string, err error) transcript.Step {
	s := m.step(m.serverName(name), "record")
	s.Fault = fmt.Sprintf("the record of an MCP server cannot be read: %v", err)
	return s
}

func (m *mcpRecords) step(server, method string) transcript.Step {
	return transcript.Step{
		ID: scenario.UpstreamID(server, method), Line: m.scenario.Line, Kind: "upstream",
		Text: fmt.Sprintf("MCP server %s, %s", server, method),
	}
}

// stepsOf returns the steps of one server.
func (m *mcpRecords) stepsOf(server string, messages []record.Message) []transcript.Step {
	var out []transcript.Step
	at := map[string]int{}
	for _, message := range messages {
		method := cmp.Or(message.Method, "answer")
		i, known := at[method]
		if !known {
			i = len(out)
			at[method], out = i, append(out, m.step(server, method))
		}
		body := withoutCounters(message.Parameters())
		sent := max(0, message.At.Sub(m.t.Started))
		out[i].Exchanges = append(out[i].Exchanges, &transcript.Exchange{
			Request: transcript.Request{
				Method: transcript.MCP, Target: method, Body: transcript.Body{Bytes: body, Size: int64(len(body))},
				Header: transcript.Header{{Name: "Content-Type", Value: "application/json"}},
			},
			Sent: sent, Head: sent, Done: sent,
		})
		out[i].At = cmp.Or(out[i].At, sent)
		out[i].Took = sent - out[i].At
	}
	return out
}
