package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub/mcp/record"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// What a target sends to the MCP servers that it starts is in files of its directory, which these servers write. It is put
// among what the target asks its upstreams: a step for each method of each server.

// mostRecorded bounds a record.
const mostRecorded = 64 << 20

// recordPoll is how often records are looked at that are not equally long.
const recordPoll = 20 * time.Millisecond

// keepsRecords reports whether there can be any: they are where the scenario says, below the target's directory.
func (r *stage) keepsRecords() bool { return r.scenario.Directory }

// settleRecords lets targets send what the others have sent. What was seen when they were held against each other is what
// leaveRecords takes down.
func (r *stage) settleRecords(ctx context.Context) {
	ctx, cancel := r.settling(ctx)
	defer cancel()
	for !r.recordsSettled() && ctx.Err() == nil {
		pause(ctx, recordPoll)
	}
}

func (r *stage) recordsSettled() bool {
	before := r.recordsBefore()
	var first map[string]int
	settled, lost := true, false
	for _, w := range r.walkers {
		w.recorded = w.records()
		own := map[string]int{}
		for _, s := range w.recorded {
			own[s.ID] = len(s.Exchanges)
		}
		settled = settled && covers(own, before) && (first == nil || maps.Equal(first, own))
		lost = lost || w.lost()
		first = own
	}
	return settled || lost // of which nothing more comes
}

// recordsBefore returns how many messages of each method the recording has; nil without one.
func (r *stage) recordsBefore() map[string]int {
	if r.opts.Recorded == nil {
		return nil
	}
	n := map[string]int{}
	for i := range r.opts.Recorded.Upstream {
		if s := &r.opts.Recorded.Upstream[i]; s.ToMCP() {
			n[s.ID] = len(s.Exchanges)
		}
	}
	return n
}

// records returns what the target has sent by now, in the order in which each server and method was first spoken to. A
// record that cannot be read is a fault.
func (w *walker) records() []transcript.Step {
	if w.server.Directory == "" {
		return nil
	}
	root, err := os.OpenRoot(w.server.Directory) // which no symbolic link leads out of
	if err != nil {
		return []transcript.Step{w.unread(record.Suffix, err)}
	}
	defer root.Close()
	pattern := w.t.Unique + "*" + record.Suffix
	if w.stage.scenario.Fresh { // nobody else speaks to what the target starts
		pattern = "*" + record.Suffix
	}
	names, err := fs.Glob(root.FS(), pattern)
	if err != nil {
		return []transcript.Step{w.unread(record.Suffix, err)}
	}
	var out []transcript.Step
	for _, name := range names {
		messages, err := readRecord(root, name)
		if err != nil {
			out = append(out, w.unread(name, err))
			continue
		}
		out = append(out, w.recordSteps(w.serverName(name), messages)...)
	}
	return out
}

// readRecord reads a file that is one: a target could put anything in its place.
func readRecord(root *os.Root, name string) ([]record.Message, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return record.Read(file, mostRecorded)
}

// serverName is what a server is called: what its record is, without the scenario's token.
func (w *walker) serverName(file string) string {
	name := strings.TrimPrefix(strings.TrimSuffix(file, record.Suffix), w.t.Unique)
	return cmp.Or(strings.ReplaceAll(strings.Trim(name, "-_."), ".", "-"), "mcp")
}

func (w *walker) unread(name string, err error) transcript.Step {
	s := w.recordStep(w.serverName(name), "record")
	s.Fault = fmt.Sprintf("the record of an MCP server cannot be read: %v", err)
	return s
}

func (w *walker) recordStep(server, method string) transcript.Step {
	return transcript.Step{
		ID: scenario.UpstreamID(server, method), Line: w.stage.scenario.Line, Kind: "upstream",
		Text: fmt.Sprintf("MCP server %s, %s", server, method),
	}
}

// recordSteps puts what was sent to one server into steps.
func (w *walker) recordSteps(server string, messages []record.Message) []transcript.Step {
	var out []transcript.Step
	at := map[string]int{}
	for _, m := range messages {
		method := cmp.Or(m.Method, "answer")
		i, known := at[method]
		if !known {
			i = len(out)
			at[method], out = i, append(out, w.recordStep(server, method))
		}
		body := uncounted(m.Parameters())
		sent := max(0, m.At.Sub(w.t.Started))
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

// counters are what JSON-RPC and its libraries count with: they tell one request from another, and are made up.
var counters = []string{"progressToken", "requestId"}

// uncounted returns parameters in which 0 stands in the place of counters.
func uncounted(body json.RawMessage) json.RawMessage {
	if !slices.ContainsFunc(counters, func(name string) bool { return bytes.Contains(body, []byte(name)) }) {
		return body
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return body
	}
	for _, name := range counters {
		if _, ok := members[name]; ok {
			members[name] = json.RawMessage("0")
		}
	}
	if meta, ok := members["_meta"]; ok {
		members["_meta"] = uncounted(meta)
	}
	out, err := json.Marshal(members)
	if err != nil {
		return body
	}
	return out
}

// leaveRecords takes down what the target has sent.
func (w *walker) leaveRecords() { w.t.Upstream = append(w.t.Upstream, w.recorded...) }
