//go:build unix

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

// answerFaults are faults in the answers of a target.
func answerFaults() []*surrounding {
	return []*surrounding{
		{doc: "the candidate hangs in one step", code: exitDiffer, says: "the step's 300ms were over", set: wrongly("hang-before-head", "run", "items/story", "--step-timeout", "300ms")},
		{doc: "the candidate hangs in a body", code: exitDiffer, says: "the step's 300ms were over", set: wrongly("hang-in-body", "run", "items/story", "--step-timeout", "300ms")},
		{doc: "the reference hangs in a body", code: exitDiffer, says: "the step's 300ms were over", set: wronglyReference("hang-in-body", "run", "items/story", "--step-timeout", "300ms")},
		{doc: "both hang in a body", code: exitDiffer, says: "the step's 300ms were over", set: func(t *testing.T, l *lab) {
			hangs := func() string { return faux.Serve(t, &faux.Server{Fault: faux.Named(t, "hang-in-body")}) }
			l.testProject = newProject(t, at("right", hangs()), at("wrong", hangs()))
			l.args = []string{"run", "items/story", "--step-timeout", "300ms"}
		}},
		{doc: "half an answer", code: exitDiffer, says: "differ in 1 of 1", set: wrongly("truncated-body")},
		{doc: "half a head", code: exitDiffer, says: "differ in 1 of 1", set: wrongly("half-head")},
		{doc: "garbage in the place of HTTP", code: exitDiffer, says: "differ in 1 of 1", set: wrongly("garbage")},
		{doc: "garbage from the reference", code: exitDiffer, says: "differ in 1 of 1", set: wronglyReference("garbage")},
		{doc: "a body that does not end", code: exitDiffer, says: "differ in 1 of 1", set: wrongly("gigabyte")},
		{doc: "the candidate's clock is far off", code: exitDiffer, says: "differ in 1 of 1", set: wrongly("old-time")},
		{doc: "the reference's clock is far off", code: exitDiffer, says: "differ in 1 of 1", set: wronglyReference("old-time")},
		{doc: "the scenario's limit is over", code: exitDiffer, says: "cut short: the scenario's 300ms were over", set: wrongly("hang-before-head", "run", "items/story", "--scenario-timeout", "300ms")},
		{doc: "both answer in a coding that nobody asked for", code: exitDiffer, says: "a content coding that the request did not ask for", set: func(t *testing.T, l *lab) {
			wrong := faux.Named(t, "unasked-coding")
			l.testProject = newProject(t, at("right", faux.Serve(t, &faux.Server{Fault: wrong})), at("wrong", faux.Serve(t, &faux.Server{Fault: wrong})))
		}},
		{doc: "one side answers in a coding", code: exitDiffer, says: "header Content-Encoding", set: coded(nil, faux.Coding("br", brotlied(0)))},
		{doc: "both call a plain body br", code: exitDiffer, says: "the body is not encoded as its Content-Encoding says", set: codedAlike("br", plainly)},
		{doc: "both call a plain body zstd", code: exitDiffer, says: "the body is not encoded as its Content-Encoding says", set: codedAlike("zstd", plainly)},
		{doc: "both call a body in br twice coded", code: exitDiffer, says: "the body is not encoded as its Content-Encoding says", set: codedAlike("br, br", brotlied(0))},
		{doc: "both break the contract in br", code: exitDiffer, says: "right and wrong break the contract", set: codedAlike("br", func([]byte) []byte { return brotlied(0)([]byte("{}")) })},
		{doc: "both answer in a coding that nobody knows", code: exitUnknown, says: `cannot be judged: it is in the coding "shrunk"`, set: codedAlike("shrunk", plainly)},
		{doc: "both answer in too many codings", code: exitUnknown, says: "it is in 4 codings, and at most 3 are undone", set: codedAlike("br, br, br, br", plainly)},
		{doc: "both answer with more than is decoded", code: exitUnknown, says: "it holds more than", set: codedAlike("br", brotlied(2_000_000))},
		{doc: "both answer with a part of what is in a coding", code: exitUnknown, says: "a part cannot be decoded by itself", set: coded(faux.Part(faux.Coding("br", brotlied(0))), faux.Part(faux.Coding("br", brotlied(0))))},

		{doc: "many fields that only the candidate has", code: exitDiffer, says: "29800 more differences are not listed", set: crowded("items/story", nil, faux.ManyFields(30_000))},
		{doc: "many fields that only the reference has", code: exitDiffer, says: "29800 more differences are not listed", set: crowded("items/story", faux.ManyFields(30_000), nil)},
		{doc: "many fields that the contract does not name", code: exitDiffer, says: "there are more violations than the ones listed", set: crowded("items/story", faux.ManyFields(30_000), faux.ManyFields(30_000))},
		{doc: "many fields in an event", code: exitDiffer, says: "29800 more differences are not listed", set: crowded("events/story", nil, faux.ManyFields(30_000))},
		{doc: "many events that only the candidate sends", code: exitDiffer, says: "9800 more differences are not listed", set: crowded("events/story", nil, faux.ManyEvents(10_000))},
		{doc: "many events that only the reference sends", code: exitDiffer, says: "9800 more differences are not listed", set: crowded("events/story", faux.ManyEvents(10_000), nil)},
		{doc: "a stream that never ends", code: exitDiffer, says: "more than 20000 events came", set: func(t *testing.T, l *lab) {
			wrongly("endless-stream", "run", "events/story")(t, l)
			l.write(t, "lockstep.yaml", strings.Replace(l.read("lockstep.yaml"), "limits: {", "limits: {events: 20000, ", 1))
		}},
	}
}

// coded sets up a project whose servers have the given faults in one step, which accepts any content coding. Nil is a
// correct server.
func coded(right, wrong *faux.Fault) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		l.testProject = newProject(t, at("right", faux.Serve(t, &faux.Server{Fault: right})), at("wrong", faux.Serve(t, &faux.Server{Fault: wrong})))
		const step = "  - http: GET /items/${{ lamp }}\n"
		story := l.read("scenarios/items/story.yaml")
		l.write(t, "scenarios/items/story.yaml", strings.Replace(story, step, step+"    headers: {Accept-Encoding: \"*\"}\n", 1))
		l.write(t, "lockstep.yaml", strings.Replace(l.read("lockstep.yaml"), "limits: {", "limits: {body: 1000000, ", 1))
		l.write(t, "openapi.yaml", strings.Replace(l.read("openapi.yaml"), "'200':\n          description: The item.", "2XX:\n          description: The item.", 1))
	}
}

// codedAlike is coded with the same fault on both sides.
func codedAlike(codings string, encode func([]byte) []byte) func(*testing.T, *lab) {
	return coded(faux.Coding(codings, encode), faux.Coding(codings, encode))
}

func plainly(body []byte) []byte { return body }

// brotlied compresses a body with Brotli, after adding the given number of blanks in front.
func brotlied(blanks int) func([]byte) []byte {
	return func(body []byte) []byte {
		var b bytes.Buffer
		w := brotli.NewWriter(&b)
		_, _ = w.Write(append(bytes.Repeat([]byte(" "), blanks), body...))
		_ = w.Close()
		return b.Bytes()
	}
}

// crowded sets up a project whose servers have the given faults in a scenario. They cause so many findings that a
// naive lockstep would use all memory and time. It gets 60 seconds of processor time and 1 GiB.
func crowded(scenario string, right, wrong *faux.Fault) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		l.testProject = newProject(t, at("right", faux.Serve(t, &faux.Server{Fault: right})), at("wrong", faux.Serve(t, &faux.Server{Fault: wrong})))
		l.args, l.limits, l.room = []string{"run", scenario}, "ulimit -t 60", 1<<30
	}
}
