package browser

import (
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// document returns a run of these scenarios.
func document(scenarios ...verdict.Scenario) *report.Document {
	d := &report.Document{
		Version: "0.1.0", Started: time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC), Millis: 12345,
		Seed: 4503599627370497, Jobs: 8, Project: "lockstep.yaml", Contract: "openapi.yaml",
		Evidence: map[string]*report.Evidence{},
	}
	for _, s := range scenarios {
		d.Add(s)
	}
	d.Coverage = coverage.Coverage{Operations: []coverage.Operation{
		{Method: "GET", Path: "/items", Reached: 12, Statuses: []coverage.Status{{Status: "200", Reached: 10}, {Status: "404"}}},
		{Method: "POST", Path: "/items", Reached: 2, Statuses: []coverage.Status{{Status: "201", Reached: 2}}},
	}}
	d.Latency = []report.Latency{{Operation: "GET /items", Target: "new", Pairs: 12, Reference: 1500, Candidate: 700, Ratio: 0.47, Low: 0.3, High: 1.2}}
	d.Steps = map[string][]report.StepLine{}
	for i := range d.Scenarios {
		d.Steps[d.Scenarios[i].ID] = report.StepLines([]*transcript.Transcript{story("old", "done"), story("new", "done")})
	}
	d.Conclude()
	return d
}

func scenario(id string, tags []string, findings ...verdict.Finding) verdict.Scenario {
	s := verdict.Scenario{
		ID: id, File: "scenarios/" + id + ".yaml", Line: 1, Why: "A client reads what it wrote", Tags: tags, Verdict: verdict.Match, Millis: 21,
		Targets:  []verdict.Target{{Name: "old", Exchanges: 4, Success: 4}, {Name: "new", Exchanges: 4, Success: 3}},
		Compared: verdict.Compared{Exchanges: 4}, Findings: findings,
	}
	for i := range s.Findings {
		s.Findings[i].Scenario, s.Verdict = id, verdict.Differ
	}
	return s
}

func difference(place, reference, candidate, fingerprint string, blame verdict.Blame) verdict.Finding {
	return verdict.Finding{
		Class: verdict.Difference, Kind: "value", Step: "2", Line: 7, StepText: "GET /items/1", Operation: "GET /items/{id}", Target: "new",
		Place: place, Text: "the values differ", Reference: reference, Candidate: candidate, Blame: blame, Fingerprint: fingerprint, At: "GET /items/1: " + place,
	}
}

// red is a run in which three hundred scenarios share one cause, and two have their own.
func red() *report.Document { return redIn(300) }

func redIn(scenarios int) *report.Document {
	var all []verdict.Scenario
	for i := range scenarios {
		all = append(all, scenario(fmt.Sprintf("items/many-%d", i), []string{"items"}, difference("body /state", `"done"`, `"finished"`, "aaaa", verdict.BlameNobody)))
	}
	odd := difference("status", "200", "500", "bbbb", verdict.BlameCandidate)
	odd.Operation, odd.StepText, odd.Kind, odd.Text = "POST /items", "POST /items", "status", "the statuses differ"
	odd.Contract = []verdict.Remark{{Target: "new", Place: "status", Text: "500 is not documented", Line: 40}}
	all = append(all, scenario("odd/status", []string{"odd"}, odd), scenario("odd/other", nil, difference("body /n", "1", "2", "cccc", verdict.BlameNobody)))
	for i := range 20 {
		all = append(all, scenario(fmt.Sprintf("fine/%d", i), []string{"fine"}))
	}
	d := document(all...)
	s := &d.Scenarios[0]
	d.Evidence[s.ID] = report.GatherEvidence(&report.EvidenceSource{
		Scenario: s, Transcripts: []*transcript.Transcript{story("old", "done"), story("new", "finished")},
		Text:  []byte("scenario: items/many-0\nwhy: w\nsteps:\n  - http: POST /items\n    json: {}\n\n  - http: GET /items/1\n    expect: {status: 200}\n"),
		Rules: []string{"header Content-Type is compared (lockstep.yaml:12:7)"}, Mask: func(s string) string { return s },
	})
	return d
}

func story(target, state string) *transcript.Transcript {
	body := func(s string) transcript.Body { return transcript.Body{Bytes: []byte(s), Size: int64(len(s))} }
	exchange := func(method, path, in, out string, from time.Duration) *transcript.Exchange {
		return &transcript.Exchange{
			Request:  transcript.Request{Method: method, Target: path, Header: transcript.Header{{Name: "Content-Type", Value: "application/json"}}, Body: body(in)},
			Response: &transcript.Response{Proto: "HTTP/1.1", Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: "application/json"}}, Body: body(out)},
			Sent:     from, Head: from + 2*time.Millisecond, Done: from + 3*time.Millisecond,
		}
	}
	return &transcript.Transcript{
		Target: target, Took: 40 * time.Millisecond,
		Steps: []transcript.Step{
			{ID: "1", Line: 4, Text: "POST /items", Took: 3 * time.Millisecond, Exchanges: []*transcript.Exchange{exchange("POST", "/items", `{"it's":1}`, `{"id":1}`, time.Millisecond)}},
			{ID: "2", Line: 7, Text: "GET /items/1", Took: 3 * time.Millisecond, Exchanges: []*transcript.Exchange{exchange("GET", "/items/1", "", `{"id":1,"state":"`+state+`","title":"one"}`, 10*time.Millisecond)}},
		},
		Streams: []*transcript.Stream{{Name: "feed", Step: "0", Operation: "GET /feed", At: 500 * time.Microsecond, Until: 30 * time.Millisecond,
			Events: []transcript.Event{{Name: "added", At: 5 * time.Millisecond}, {Name: "removed", At: 20 * time.Millisecond}}}},
	}
}

// streams is a run with a stream in which the candidate changes one event, leaves out another and adds a third.
func streams() *report.Document {
	event := func(name, data string) transcript.Event {
		return transcript.Event{Name: name, Data: data, At: time.Millisecond}
	}
	stream := func(events ...transcript.Event) []*transcript.Stream {
		return []*transcript.Stream{{Name: "feed", Step: "0", Operation: "GET /feed", Events: events}}
	}
	f := difference("event 1 (added) data /n", "1", "9", "ffff", verdict.BlameNobody)
	f.Stream = "feed"
	d := document(scenario("feed/order", nil, f))
	old, cand := story("old", "done"), story("new", "done")
	old.Streams = stream(event("added", `{"n":1}`), event("changed", `{"n":2}`), event("removed", `{"n":3}`))
	cand.Streams = stream(event("added", `{"n":9}`), event("removed", `{"n":3}`), event("more", `{"n":4}`))
	d.Evidence["feed/order"] = report.GatherEvidence(&report.EvidenceSource{
		Scenario: &d.Scenarios[0], Transcripts: []*transcript.Transcript{old, cand}, Text: []byte("scenario: x\n"), Mask: func(s string) string { return s },
	})
	return d
}

func green() *report.Document {
	var all []verdict.Scenario
	for i := range 60 {
		all = append(all, scenario(fmt.Sprintf("fine/%d", i), []string{"fine"}))
	}
	return document(all...)
}

// huge is a run of ten thousand scenarios and a thousand findings. Each finding has its own cause and evidence.
func huge() *report.Document {
	var all []verdict.Scenario
	for i := range 10_000 {
		id := fmt.Sprintf("area-%d/resource/scenario-with-a-name-%d", i%20, i)
		if i%10 != 0 {
			all = append(all, scenario(id, []string{"bulk"}))
			continue
		}
		all = append(all, scenario(id, []string{"bulk", "red"}, difference(fmt.Sprintf("body /state%d", i), `"done"`, `"finished"`, fmt.Sprintf("%08x", i), verdict.BlameNobody)))
	}
	d := document(all...)
	for i := range d.Scenarios {
		if s := &d.Scenarios[i]; len(s.Findings) > 0 {
			d.Evidence[s.ID] = report.GatherEvidence(&report.EvidenceSource{
				Scenario: s, Transcripts: []*transcript.Transcript{story("old", "done"), story("new", "finished")},
				Text: []byte("scenario: x\n\n\n\n\n\n  - http: GET /items/1\n"), Mask: func(s string) string { return s },
			})
		}
	}
	return d
}

// socket is a run with a socket on which the candidate changes a message, loses another, writes a third in two frames,
// and closes with another code.
func socket() *report.Document {
	at := time.Duration(0)
	message := func(item transcript.Item, name, data string, sent bool) transcript.Event {
		at += time.Millisecond
		return transcript.Event{Item: item, Name: name, Data: data, Sent: sent, At: at, Framing: fmt.Sprintf("%s %d", item, len(data))}
	}
	story := func(target, topic string, code int, receipt bool) *transcript.Transcript {
		at = 0
		s := &transcript.Stream{Name: "chat", Step: "1", Wire: transcript.WireSocket, Operation: "GET /chat", Ended: transcript.EndedByServer, At: time.Millisecond, Until: 20 * time.Millisecond}
		s.Events = []transcript.Event{
			message(transcript.ItemText, "hello", `{"type":"hello","user":"ann"}`, true),
			message(transcript.ItemText, "welcome", `{"type":"welcome","topic":"`+topic+`"}`, false),
			message(transcript.ItemPing, "ping", "hi", false),
			message(transcript.ItemPong, "pong", "hi", true),
			message(transcript.ItemBinary, "binary", "\x00\x01\xfaPNG", false),
			message(transcript.ItemText, "say", `{"type":"say","text":"good morning"}`, true),
		}
		if receipt {
			s.Events = append(s.Events, message(transcript.ItemText, "receipt", `{"type":"receipt"}`, false))
		}
		typing := message(transcript.ItemText, "typing", `{"type":"typing"}`, false)
		if !receipt {
			typing.Framing = "text 12, end 5"
		}
		s.Events = append(s.Events, typing, message(transcript.ItemClose, "close", fmt.Sprintf(`{"code":%d,"reason":"not allowed"}`, code), false), message(transcript.ItemClose, "close", fmt.Sprintf(`{"code":%d}`, code), true))
		return &transcript.Transcript{Target: target, Took: 20 * time.Millisecond, Streams: []*transcript.Stream{s}, Steps: []transcript.Step{
			{ID: "1", Line: 5, Kind: "open", Text: "open chat: socket /chat", Stream: "chat"}, {ID: "2", Line: 6, Kind: "send", Text: "send chat", Stream: "chat", Took: time.Millisecond},
		}}
	}
	return judgedStreams([]*transcript.Transcript{story("old", "news", 1008, true), story("new", "News", 1011, false)}, compare.Rules{Streams: map[string]streamdiff.Rules{"chat": {Exact: true}}})
}

// program is a run with a program of JSON-RPC, whose candidate writes another message and ends with another status.
func program() *report.Document {
	story := func(target, text, exit string) *transcript.Transcript {
		line := func(data string, sent bool) transcript.Event {
			return transcript.Event{Item: transcript.ItemLine, Name: "line", Data: data, Sent: sent, Framing: "•\n"}
		}
		return &transcript.Transcript{Target: target, Took: 20 * time.Millisecond, Steps: []transcript.Step{{ID: "1", Line: 5, Kind: "open", Text: "open tool: program", Stream: "tool"}}, Streams: []*transcript.Stream{{
			Name: "tool", Step: "1", Wire: transcript.WireProgram, Ended: transcript.EndedByServer, Until: 20 * time.Millisecond, Events: []transcript.Event{
				line(`{"jsonrpc":"2.0","id":1,"method":"first"}`, true), line(`{"jsonrpc":"2.0","id":2,"method":"second"}`, true),
				{Item: transcript.ItemStderr, Name: "stderr", Data: "warning: slow disk", Framing: "•\n"},
				line(`{"jsonrpc":"2.0","id":1,"error":{"message":"`+text+`"}}`, false), line(`{"jsonrpc":"2.0","id":2,"result":{}}`, false),
				{Item: transcript.ItemExit, Name: "exit", Data: exit},
			},
		}}}
	}
	return judgedStreams([]*transcript.Transcript{story("old", "Not found", `{"status":0}`), story("new", "not found", `{"signal":"SIGSEGV"}`)}, compare.Rules{Streams: map[string]streamdiff.Rules{"tool": {JSONRPC: true}}})
}

// judgedStreams judges a scenario as a run does, and gathers its evidence.
func judgedStreams(ts []*transcript.Transcript, rules compare.Rules) *report.Document {
	s := verdict.Judge(&verdict.Case{ID: "wire", File: "scenarios/wire.yaml", Line: 1, Why: "A message arrives", Rules: &rules, Contract: contract.Absent(), Transcripts: ts})
	d := document(s)
	d.Contract, d.Coverage, d.Latency, d.Steps = "", coverage.Coverage{}, nil, nil
	d.Evidence["wire"] = report.GatherEvidence(&report.EvidenceSource{
		Scenario: &d.Scenarios[0], Transcripts: ts, Text: []byte("scenario: wire\nwhy: w\nsource: here\nsteps:\n  - open: chat\n    socket: /chat\n"),
		Mask: func(s string) string { return s }, Labels: rules.Labels,
	})
	return d
}
