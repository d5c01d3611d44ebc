package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Evidence is what a page shows for the findings of one scenario: the messages on the wire, their times, and the lines
// of the scenario's file. It is cut to what a person reads; the run file has everything.
type Evidence struct {
	Findings  []FindingEvidence `json:"behind"`             // one for each of the scenario's findings, in their order
	Timelines []Timeline        `json:"tracks"`             // one for each target
	Streams   []StreamPair      `json:"streams,omitempty"`  // those that findings are about
	Excerpts  map[int][]string  `json:"excerpts,omitempty"` // from the scenario's file, by the line of a step
	Rules     []string          `json:"rules,omitempty"`    // the rules that apply
}

// FindingEvidence has the messages that show one finding. For a difference, these are those of the reference and the
// candidate; otherwise that of one target.
type FindingEvidence struct {
	Sides  []Side  `json:"sides,omitempty"`
	Source *Source `json:"-"` // in the scenario's file; the page has the whole step
}

// A Side is the message of one target that a finding is about.
type Side struct {
	Target string `json:"target"`
	// Request is what was sent: request line, header fields, body. On a socket, and to a program, it is the message before
	// Answer.
	Request string       `json:"request,omitempty"`
	Answer  string       `json:"answer,omitempty"` // status line, header fields, body; or the event
	Around  *JSONContext `json:"around,omitempty"` // the JSON around the place
	Curl    string       `json:"curl,omitempty"`   // a command that sends the request to $URL
}

// A JSONContext is the JSON around a place, one line for each member.
type JSONContext struct {
	Lines []string `json:"lines"`
	Focus int      `json:"focus"`           // index of the line of the place; -1 when the place does not exist
	Found []int    `json:"found,omitempty"` // indexes of the lines that findings are about

	path  string         // of the object or list
	names map[int]string // of the members, by line
}

// A Timeline is what a target did, and when. Times are in microseconds since the beginning of the scenario.
type Timeline struct {
	Target  string `json:"target"`
	Took    int64  `json:"took"`
	Spans   []Span `json:"spans,omitempty"`
	Marks   []Mark `json:"marks,omitempty"`
	Omitted int    `json:"left,omitempty"` // spans and marks that are left out
}

// A Span is an exchange, a stream, or a step that waited.
type Span struct {
	Step   string `json:"step"`
	Text   string `json:"text"`
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Result string `json:"result,omitempty"` // the status of a response, or the outcome of what a driver was told to do
	Stream string `json:"stream,omitempty"`
	Stub   string `json:"stub,omitempty"`   // the upstream that the target called
	Failed string `json:"failed,omitempty"` // how it broke
}

// A Mark is an event of a stream, or what was sent on it.
type Mark struct {
	Stream string `json:"stream"`
	Name   string `json:"name"`
	At     int64  `json:"at"`
	Way    bool   `json:"way,omitempty"` // it has a direction: the stream goes both ways
	Sent   bool   `json:"sent,omitempty"`
	Dim    bool   `json:"dim,omitempty"` // it is standard error
}

// An EvidenceSource says what evidence is gathered from.
type EvidenceSource struct {
	Scenario    *verdict.Scenario
	Transcripts []*transcript.Transcript // the reference first
	Text        []byte                   // the scenario's file
	Rules       []string
	Mask        func(string) string // hides tokens
	// Labels names the events of a stream, as in findings. Without it, messages and lines have no numbers.
	Labels func(*transcript.Stream) []string

	labels   map[*transcript.Stream][]string
	requests map[*transcript.Stream]map[string][]int
	parsed   [2]parsedBody // the latest body of each side
	messages map[*transcript.Exchange][2]string
}

// Limits of what is kept for a scenario.
const (
	maxSpans   = 200  // spans of one target, and the same number of events
	maxMessage = 8000 // columns of a request, a response or an event
	maxExcerpt = 10   // lines
	maxCurl    = 1500
)

func GatherEvidence(g *EvidenceSource) *Evidence {
	ev := &Evidence{Rules: g.Rules, Excerpts: map[int][]string{}}
	root, _ := yamldoc.Parse("", g.Text) // the file was parsed before; a file with a mistake has no steps
	for i := range g.Scenario.Findings {
		f := &g.Scenario.Findings[i]
		behind := g.findingEvidence(f)
		if behind.Source = source(root, g.Text, f); behind.Source != nil {
			behind.Source.Text = g.Mask(behind.Source.Text)
		}
		ev.Findings = append(ev.Findings, behind)
		if ev.Excerpts[f.Line] == nil {
			ev.Excerpts[f.Line] = excerpt(g.Text, f.Line)
		}
	}
	for _, t := range g.Transcripts {
		ev.Timelines = append(ev.Timelines, g.timeline(t))
	}
	ev.Streams = g.streamPairs()
	return ev
}

func (g *EvidenceSource) findingEvidence(f *verdict.Finding) FindingEvidence {
	var b FindingEvidence
	for i, t := range g.Transcripts {
		if t.Target != f.Target && (f.Class != verdict.Difference || i != 0) {
			continue
		}
		side := 1
		if i == 0 && f.Class == verdict.Difference {
			side = 0
		}
		b.Sides = append(b.Sides, g.side(f, t, side))
	}
	return b
}

// side finds the message of a target that a finding is about.
func (g *EvidenceSource) side(f *verdict.Finding, t *transcript.Transcript, side int) Side {
	out := Side{Target: t.Target}
	var body []byte
	if x := exchangeOf(t, f, side); x != nil {
		out.Request, out.Answer = g.messagesOf(x)
		if x.Request.Method == transcript.Do {
			out.Answer += g.Mask(upstreamsDuring(t, x))
		}
		if f.Upstream == "" { // in a finding about an upstream, the target sends the request
			out.Curl = g.Mask(curl(&x.Request))
		}
		if x.Response != nil {
			body = archive.Content(x.Response.Header.ContentType(), x.Response.Body.Bytes)
		}
	}
	if x := exchangeOf(t, f, side); x != nil && f.Upstream != "" {
		body = x.Request.Body.Bytes
	}
	if s := streamNamed(t, f.Stream); s != nil {
		n := eventIndex(s, f, side)
		if n >= 0 {
			body = []byte(s.Events[n].Data)
		}
		switch {
		case s.Wire != "":
			out.Request, out.Answer = g.sideItem(s, n)
			out.Curl = ""
		case n >= 0:
			out.Answer = g.masked(eventText(&s.Events[n]))
		}
	}
	if at := diff.PointerIn(f.Place); at != "" || body != nil {
		if out.Around = jsonContext(g.parsed[side].parse(body), at); out.Around != nil {
			out.Around.markFound(g.pointersOf(f))
			for i, line := range out.Around.Lines {
				out.Around.Lines[i] = g.Mask(line)
			}
		}
	}
	return out
}

// messagesOf returns both messages of an exchange. Many findings can be about the same exchange.
func (g *EvidenceSource) messagesOf(x *transcript.Exchange) (request, answer string) {
	if texts, ok := g.messages[x]; ok {
		return texts[0], texts[1]
	}
	request = g.masked(requestText(&x.Request))
	switch outcome := x.Outcome(); {
	case outcome != "":
		answer = g.masked("→ " + outcome + "\n\n" + string(x.Response.Body.Bytes))
	case x.Response != nil:
		answer = g.masked(answerText(x.Response))
	case x.Failure != nil:
		answer = g.Mask(x.Failure.Text)
	}
	if g.messages == nil {
		g.messages = map[*transcript.Exchange][2]string{}
	}
	g.messages[x] = [2]string{request, answer}
	return request, answer
}

// upstreamsDuring lists the requests to upstreams that came while a driver did what it was told to do.
func upstreamsDuring(t *transcript.Transcript, of *transcript.Exchange) string {
	const most = 20
	var lines []string
	for i := range t.Upstream {
		stub, _, _ := strings.Cut(t.Upstream[i].ID, ".")
		for _, x := range t.Upstream[i].Exchanges {
			if x.Sent < of.Sent || x.Sent > of.Done {
				continue
			}
			line := "↗ " + stub + ": " + x.Request.Method + " " + textfit.Clip(x.Request.Target, 200)
			if x.Response != nil {
				line += " → " + strconv.Itoa(x.Response.Status)
			}
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	more := ""
	if len(lines) > most {
		more = fmt.Sprintf("\n… %d more", len(lines)-most)
		lines = lines[:most]
	}
	return "\n\nrequests to upstreams meanwhile\n" + strings.Join(lines, "\n") + more
}

// pointersOf returns the places of all findings about the message that a finding is about. "" is the whole document: a
// finding about it, or one that counts others.
func (g *EvidenceSource) pointersOf(f *verdict.Finding) []string {
	var out []string
	for i := range g.Scenario.Findings {
		other := &g.Scenario.Findings[i]
		if other.Step != f.Step || other.Stream != f.Stream || other.Upstream != f.Upstream {
			continue
		}
		at := diff.PointerIn(other.Place)
		switch {
		case other.IsOverflow():
			out = append(out, "")
		case other.Event(0) != f.Event(0) || other.Event(1) != f.Event(1):
		case at != "" || other.Place == "body" || strings.HasSuffix(other.Place, " body") || strings.HasSuffix(other.Place, " data"):
			out = append(out, at)
		}
	}
	return out
}

func (g *EvidenceSource) masked(s string) string { return textfit.ClipLines(g.Mask(s), maxMessage) }

func exchangeOf(t *transcript.Transcript, f *verdict.Finding, side int) *transcript.Exchange {
	for s := range t.AllSteps() {
		if s.ID != f.Step || len(s.Exchanges) == 0 {
			continue
		}
		if n := f.Exchange(side); n >= 0 && n < len(s.Exchanges) {
			return s.Exchanges[n]
		}
		return s.Exchanges[0]
	}
	return nil
}

// eventIndex returns the index of the event that a finding is about; -1 for none.
func eventIndex(s *transcript.Stream, f *verdict.Finding, side int) int {
	n := f.Event(side)
	if n < 0 && f.Constant() {
		n = slices.IndexFunc(s.Events, func(e transcript.Event) bool { return containsValue(&e, f, side) })
	}
	if n >= len(s.Events) {
		return -1
	}
	return n
}

// containsValue reports whether an event contains the value of a constant.
func containsValue(ev *transcript.Event, f *verdict.Finding, side int) bool {
	value, err := strconv.Unquote([2]string{f.Reference, f.Candidate}[side])
	return err == nil && (strings.Contains(ev.Data, value) || strings.Contains(ev.ID, value))
}

func requestText(r *transcript.Request) string {
	var b strings.Builder
	b.WriteString(r.Method + " " + r.Target + "\n")
	fields(&b, r.Header)
	writeBody(&b, r.Body)
	return b.String()
}

func answerText(r *transcript.Response) string {
	var b strings.Builder
	b.WriteString(r.Proto + " " + strconv.Itoa(r.Status) + "\n")
	fields(&b, r.Header)
	if entries := entriesOf(r); entries != "" {
		b.WriteString("\n" + entries)
	} else {
		writeBody(&b, r.Body)
	}
	return b.String()
}

func fields(b *strings.Builder, h transcript.Header) {
	for _, f := range h {
		b.WriteString(f.Name + ": " + f.Value + "\n")
	}
}

func writeBody(b *strings.Builder, body transcript.Body) {
	if len(body.Bytes) == 0 {
		return
	}
	kept := body.Bytes[:min(len(body.Bytes), 4*maxMessage)] // a character has at most 4 bytes
	b.WriteString("\n")
	if f := body.Fill; f != nil {
		body.Size -= f.Times
		if f.At <= len(kept) {
			b.Write(kept[:f.At])
			fmt.Fprintf(b, "‹%d × %c›", f.Times, transcript.FillByte)
			kept, body.Size = kept[f.At:], body.Size-int64(f.At)
		}
	}
	b.Write(kept)
	if n := int(body.Size) - len(kept); n > 0 {
		b.WriteString(textfit.CutNote(n))
	}
}

func eventText(ev *transcript.Event) string {
	switch {
	case ev.Comment:
		return ": " + ev.Data
	case ev.Type == "":
		return "data: " + ev.Data
	default:
		return "event: " + ev.Type + "\ndata: " + ev.Data
	}
}

// clientHeaders are the header fields that curl generates itself.
var clientHeaders = []string{"host", "content-length", "connection", "transfer-encoding", "accept-encoding", "user-agent"}

// curl returns a command that sends a request to $URL. It returns "" when the body does not fit into a command line.
func curl(r *transcript.Request) string {
	if len(r.Body.Bytes) > maxCurl || bytes.IndexByte(r.Body.Bytes, 0) >= 0 || !strings.HasPrefix(r.Target, "/") {
		return ""
	}
	var b strings.Builder
	data := r.Body.Bytes
	if f := r.Body.Fill; f != nil {
		fmt.Fprintf(&b, "{ printf %%s %s; head -c %d /dev/zero | tr '\\0' %c; printf %%s %s; } |\n  ",
			shellQuote(string(data[:f.At])), f.Times, transcript.FillByte, shellQuote(string(data[f.At:])))
	}
	b.WriteString("curl -i")
	if r.Method != "GET" {
		b.WriteString(" -X " + shellQuote(r.Method))
	}
	b.WriteString(` --path-as-is "$URL"` + shellQuote(r.Target))
	for _, f := range r.Header {
		if !slices.Contains(clientHeaders, strings.ToLower(f.Name)) {
			b.WriteString(" \\\n  -H " + shellQuote(f.Name+": "+f.Value))
		}
	}
	switch {
	case r.Body.Fill != nil:
		b.WriteString(" \\\n  --data-binary @-")
	case len(data) > 0:
		b.WriteString(" \\\n  --data-raw " + shellQuote(string(r.Body.Bytes)))
	}
	return b.String()
}

// shellQuote returns a text as one word of a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// excerpt returns the lines of a step. They end before the next item at the same depth or further out.
func excerpt(text []byte, line int) []string {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return nil
	}
	depth := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	first := strings.TrimRight(lines[line-1], " \r")
	out := []string{textfit.Clip(first, 160)}
	for _, next := range lines[line:] {
		next = strings.TrimRight(next, " \r")
		if next == "" || depth(next) <= depth(first) || len(out) == maxExcerpt {
			break
		}
		out = append(out, textfit.Clip(next, 160))
	}
	return out
}

func (g *EvidenceSource) timeline(t *transcript.Transcript) Timeline {
	out := Timeline{Target: t.Target, Took: t.Took.Microseconds()}
	open := map[string]bool{}
	for _, s := range t.Streams {
		open[s.Name] = true
		span := Span{Step: s.Step, Text: g.Mask(cmp.Or(s.Operation, s.Name)), Stream: s.Name, From: micros(s.At), To: micros(s.Until), Failed: g.failed(s.Failure)}
		if s.Stub {
			span.Stub, _, _ = strings.Cut(s.Step, ".")
		}
		out.Spans = append(out.Spans, span)
		out.Marks = append(out.Marks, g.marks(s)...)
	}
	for i := range t.Steps {
		out.Spans = append(out.Spans, g.spans(&t.Steps[i], open)...)
	}
	for i := range t.Upstream {
		for _, span := range g.spans(&t.Upstream[i], open) {
			span.Stub, _, _ = strings.Cut(span.Step, ".")
			out.Spans = append(out.Spans, span)
		}
	}
	slices.SortStableFunc(out.Spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	spans, marks := min(len(out.Spans), maxSpans), min(len(out.Marks), maxSpans)
	out.Omitted = len(out.Spans) - spans + len(out.Marks) - marks
	out.Spans, out.Marks = out.Spans[:spans], out.Marks[:marks]
	return out
}

// marks returns the events of a stream, and what was sent on it.
func (g *EvidenceSource) marks(s *transcript.Stream) []Mark {
	var out []Mark
	for i := range s.Events {
		ev := &s.Events[i]
		name := ev.Name
		if ev.Item != "" {
			name = itemTitle(ev)
		}
		out = append(out, Mark{Stream: s.Name, Name: textfit.Clip(g.Mask(name), 80), At: micros(ev.At), Way: ev.Item != "", Sent: ev.Sent, Dim: ev.Item == transcript.ItemStderr})
	}
	return out
}

// spans returns a step's exchanges, or the step itself when it only waited. Streams have their own spans.
func (g *EvidenceSource) spans(s *transcript.Step, open map[string]bool) []Span {
	var out []Span
	for _, x := range s.Exchanges {
		if open[x.Stream] {
			continue
		}
		span := Span{Step: s.ID, Text: g.Mask(textfit.Clip(x.Request.Method+" "+x.Request.Target, 120)), From: micros(x.Sent), To: micros(x.Done), Failed: g.failed(x.Failure)}
		if x.Response != nil {
			span.Result = cmp.Or(x.Outcome(), strconv.Itoa(x.Response.Status))
		}
		out = append(out, span)
	}
	marked := (s.Kind == "send" || s.Kind == "signal") && s.Unmet == nil // what it sent has a mark
	if len(s.Exchanges) == 0 && s.Skipped == "" && s.Took > 0 && !marked {
		out = append(out, Span{Step: s.ID, Text: textfit.Clip(s.Text, 120), Stream: s.Stream, From: micros(s.At), To: micros(s.At + s.Took)})
	}
	return out
}

func (g *EvidenceSource) failed(f *transcript.Failure) string {
	if f == nil {
		return ""
	}
	return g.Mask(textfit.Clip(f.Text, 200))
}

func micros(d time.Duration) int64 { return d.Microseconds() }

// Visible returns a copy with invisible characters escaped, and roughly how many bytes it takes on a page.
func (s Side) Visible() (out Side, size int) {
	s.Target, s.Request, s.Answer = textfit.Clip(s.Target, 60), textfit.VisibleLines(textfit.ClipLines(s.Request, maxMessage)), textfit.VisibleLines(textfit.ClipLines(s.Answer, maxMessage))
	if curl := textfit.VisibleLines(textfit.ClipLines(s.Curl, 2*maxCurl)); curl != s.Curl {
		s.Curl = "" // if it were cut or escaped, it would be another request
	}
	size = len(s.Request) + len(s.Answer) + len(s.Curl)
	if s.Around != nil {
		s.Around = &JSONContext{Lines: textfit.ClipAll(s.Around.Lines, 2*maxFocusColumns), Focus: s.Around.Focus, Found: s.Around.Found}
		size += len(s.Around.Lines) * maxMemberColumns
	}
	return s, size
}

// Visible returns a copy with invisible characters escaped.
func (t Timeline) Visible() Timeline {
	t.Target, t.Spans, t.Marks = textfit.Clip(t.Target, 60), slices.Clone(t.Spans), slices.Clone(t.Marks)
	for i := range t.Spans {
		s := &t.Spans[i]
		s.Step, s.Text, s.Stream, s.Failed, s.Result = textfit.Clip(s.Step, 60), textfit.Clip(s.Text, 120), textfit.Clip(s.Stream, 80), textfit.Clip(s.Failed, 200), textfit.Clip(s.Result, 20)
	}
	for i := range t.Marks {
		m := &t.Marks[i]
		m.Stream, m.Name = textfit.Clip(m.Stream, 80), textfit.Clip(m.Name, 80)
	}
	return t
}
