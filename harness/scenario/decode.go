package scenario

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A decoder turns the nodes of one file, whose shape the schema has checked, into scenarios.
type decoder struct {
	file     string
	problems Problems
	since    []*yamldoc.Node // the ids of steps that rules name

	library   *library
	used      []*fragment
	broken    bool                   // a fragment has mistakes
	generated map[*yamldoc.Node]bool // the rows that the file does not write
	// named are the names that expressions have, given those that the file has values for. Only names fills them.
	named, given map[string]bool
}

func (d *decoder) problem(n *yamldoc.Node, what, fix string) {
	d.problems = append(d.problems, Problem{File: d.file, Line: n.Line, Column: n.Column, What: what, Fix: fix})
}

// scenario decodes the file's one scenario, without its rows.
func (d *decoder) scenario(root *yamldoc.Node, text []byte) *Scenario {
	s := &Scenario{
		ID:     root.Get("scenario").Str(),
		Why:    root.Get("why").Str(),
		Source: root.Get("source").Str(),
		Tags:   texts(root.Get("tags")),
		Fresh:  root.Get("isolate").Str() == "fresh",

		Directory: d.speaksOf("directory"),
		Lockstep:  d.speaksOf("lockstep"),
		Limit:     d.duration(root.Get("limit")),
		Compare:   d.rules(root.Get("compare")),
		File:      d.file,
		Line:      root.Line,
		Column:    root.Column,
		Text:      text,
	}
	script := d.script(root)
	d.sinceSteps(script)
	for _, f := range d.used {
		s.Fragments = append(s.Fragments, f.File)
	}
	s.StepRules, s.source = script.rules(), newSource(d.file, text, d.library, script)
	return s
}

// script decodes what the client does.
func (d *decoder) script(root *yamldoc.Node) *Script {
	s := &Script{
		Texts: d.repeated(root.Get("repeat")),
		Vars:  d.vars(root.Get("vars")),
		Stubs: d.stubs(root.Get("stubs")),
		Steps: d.steps("", root.Get("steps")),
	}
	for i, n := range root.Get("teardown").Elements() {
		s.Teardown = append(s.Teardown, d.teardown(i, n))
	}
	return s
}

func (d *decoder) repeated(repeat *yamldoc.Node) []Var {
	var out []Var
	for k, v := range repeat.Entries() {
		text := strings.Repeat(v.Get("text").Str(), d.number(v.Get("times")))
		out = append(out, Var{k.Text, Value{kind: yamldoc.String, set: true, str: Literal(text)}})
	}
	return out
}

func (d *decoder) vars(vars *yamldoc.Node) []Var {
	var out []Var
	for k, v := range vars.Entries() {
		out = append(out, Var{k.Text, d.value(v)})
	}
	return out
}

func (d *decoder) steps(prefix string, list *yamldoc.Node) []Step {
	var out []Step
	for i, n := range list.Items {
		id := prefix + strconv.Itoa(i+1)
		do := d.action(id, n)
		out = append(out, Step{ID: id, Line: n.Line, Text: stepText(n, do), Do: do})
	}
	return out
}

func (d *decoder) teardown(i int, n *yamldoc.Node) Step {
	h := d.http(n)
	h.AllowStatus = []int{}
	for _, item := range n.Get("allow_status").Elements() {
		h.AllowStatus = append(h.AllowStatus, d.number(item))
	}
	return Step{ID: "teardown." + strconv.Itoa(i+1), Line: n.Line, Text: stepText(n, h), Do: h}
}

// stepText is how reports name a step.
func stepText(n *yamldoc.Node, do Action) string {
	switch do := do.(type) {
	case *HTTP:
		return n.Get("http").Text
	case *Start:
		return "start " + do.Name + ": " + n.Get("http").Text
	case *Open:
		return "open " + do.Name + ": " + n.Get("sse").Text
	case *Poll:
		return "poll " + n.Get("poll").Text
	case *Parallel:
		names := make([]string, len(do.Branches))
		for i, b := range do.Branches {
			names[i] = b.Name
		}
		return "parallel " + strings.Join(names, ", ")
	default:
		return do.kind() + " " + n.Get(do.kind()).Str()
	}
}

func (d *decoder) action(id string, n *yamldoc.Node) Action {
	within := d.duration(n.Get("within"))
	switch {
	case n.Get("start") != nil:
		return &Start{Name: n.Get("start").Text, Request: d.request(n, "http")}
	case n.Get("http") != nil:
		return d.http(n)
	case n.Get("join") != nil:
		return &Join{
			Name: n.Get("join").Text, Within: within, Expect: d.expect(n.Get("expect")),
			Capture: d.captures(n.Get("capture")), Compare: d.rules(n.Get("compare")),
		}
	case n.Get("open") != nil:
		return d.open(n)
	case n.Get("await") != nil:
		return &Await{
			Stream: n.Get("await").Text, Match: d.pattern(n.Get("match")), Times: max(1, d.number(n.Get("times"))),
			End: n.Get("end") != nil, Within: within, Capture: d.captures(n.Get("capture")),
		}
	case n.Get("never") != nil:
		return &Never{Stream: n.Get("never").Text, Match: d.pattern(n.Get("match")), Within: within}
	case n.Get("poll") != nil:
		return d.poll(n)
	case n.Get("stop") != nil:
		return &Stop{Within: within, Exit: d.number(n.Get("exit"))}
	case n.Get("kill") != nil:
		return &Kill{}
	case n.Get("restart") != nil:
		return &Restart{Within: within}
	case n.Get("asked") != nil:
		stub, rule, _ := strings.Cut(n.Get("asked").Text, ".")
		return &Asked{Stub: stub, Rule: rule, Times: max(1, d.number(n.Get("times"))), Within: within}
	case n.Get("parallel") != nil:
		return d.parallel(id, n.Get("parallel"))
	}
	for _, how := range []HangupKind{Close, HalfClose, Drop} {
		if name := n.Get(string(how)); name != nil {
			return &Hangup{Name: name.Text, How: how}
		}
	}
	panic(fmt.Sprintf("scenario: %s:%d: the schema let an unknown step pass", d.file, n.Line))
}

func (d *decoder) http(n *yamldoc.Node) *HTTP {
	return &HTTP{
		Request: d.request(n, "http"),
		Within:  d.duration(n.Get("within")),
		Burst:   d.number(n.Get("burst")),
		Expect:  d.expect(n.Get("expect")),
		Capture: d.captures(n.Get("capture")),
		Compare: d.rules(n.Get("compare")),
	}
}

func (d *decoder) open(n *yamldoc.Node) *Open {
	o := &Open{
		Name:    n.Get("open").Text,
		Request: d.request(n, "sse"),
		Within:  d.duration(n.Get("within")),
		Expect:  d.expect(n.Get("expect")),
		Compare: d.rules(n.Get("compare")),
	}
	if r := n.Get("ready"); r != nil {
		event := r.Get("event")
		o.Ready = &Ready{
			Event: d.template(event), Within: d.duration(r.Get("within")), Line: event.Line, Column: event.Column,
		}
	}
	for _, item := range n.Get("only").Elements() {
		o.Only = append(o.Only, *d.pattern(item))
	}
	return o
}

func (d *decoder) poll(n *yamldoc.Node) *Poll {
	p := &Poll{
		Request: d.request(n, "poll"),
		Pause:   20 * time.Millisecond, MaxPause: 200 * time.Millisecond,
		Within:  d.duration(n.Get("within")),
		Until:   d.expect(n.Get("until")),
		Compare: PollFinal,
		Capture: d.captures(n.Get("capture")),
	}
	if every := n.Get("every"); every != nil {
		from, to, isRange := strings.Cut(every.Text, "..")
		p.Pause, _ = time.ParseDuration(from)
		p.MaxPause = p.Pause
		if isRange {
			p.MaxPause, _ = time.ParseDuration(to)
		}
		if p.Pause <= 0 || p.MaxPause < p.Pause {
			d.problem(every, fmt.Sprintf("every is %s", every.Text), "write a range that grows, such as 20ms..200ms")
		}
	}
	if c := n.Get("compare"); c != nil {
		p.Compare = PollCompare(c.Text)
	}
	return p
}

func (d *decoder) parallel(id string, n *yamldoc.Node) *Parallel {
	p := &Parallel{}
	for k, v := range n.Entries() {
		p.Branches = append(p.Branches, Branch{k.Text, d.steps(id+"."+k.Text+".", v)})
	}
	return p
}

// request decodes the request of a step; key holds its method and path.
func (d *decoder) request(n *yamldoc.Node, key string) Request {
	line := n.Get(key)
	method, path, _ := strings.Cut(line.Text, " ")
	r := Request{
		Method: method,
		Path:   d.templateText(line, strings.TrimLeft(path, " ")),
		Query:  d.parameters(n.Get("query")),
		Line:   line.Line, Column: line.Column,
	}
	r.Header, r.Without = d.headers(n.Get("headers"))
	if m := n.Get("malformed"); m != nil {
		r.Malformed = d.value(m)
	}
	js, raw := n.Get("json"), n.Get("raw")
	switch {
	case js != nil && raw != nil:
		k, _ := n.Entry("raw")
		d.problem(k, "a step has both json and raw", "send one body: remove json or raw")
	case js != nil:
		r.Body.JSON = d.value(js)
	case raw != nil:
		r.Body = d.raw(raw)
	}
	if size := n.Get("size"); size != nil {
		d.size(size, &r.Body)
	}
	return r
}

// size decodes how long a body is to be.
func (d *decoder) size(n *yamldoc.Node, b *Body) {
	b.Size = d.value(n)
	if bytes, err := strconv.ParseInt(n.Text, 10, 64); n.Kind == yamldoc.Number && (err != nil || bytes < 1 || bytes > MaxSize) {
		d.problem(n, fmt.Sprintf("the body is to have %s bytes", n.Text), fmt.Sprintf("write a number of bytes in digits, %d at most", MaxSize))
	}
	fillers := 0
	names := b.JSON.Names()
	if b.Raw != nil {
		names = b.Raw.Names()
	}
	for _, name := range names {
		if name == Filler {
			fillers++
		}
	}
	if fillers != 1 {
		d.problem(n, fmt.Sprintf("the body names ${{ %s }} %d times", Filler, fillers), "put ${{ fill }} once into json, or into the text of raw: it stands for what is missing to the size")
	}
}

func (d *decoder) raw(n *yamldoc.Node) Body {
	b := Body{Type: n.Get("type").Str(), Chunked: n.Get("chunked").Str() == "true"}
	if text := n.Get("text"); text != nil {
		b.Raw = d.optional(text)
		return b
	}
	enc := n.Get("base64")
	var err error
	if b.Bytes, err = base64.StdEncoding.DecodeString(enc.Text); err != nil {
		d.problem(enc, "base64: "+err.Error(), "write standard base64 with its padding")
	}
	if b.Bytes == nil {
		b.Bytes = []byte{}
	}
	return b
}

func (d *decoder) parameters(n *yamldoc.Node) []Parameter {
	var out []Parameter
	for k, v := range n.Entries() {
		values := []*yamldoc.Node{v}
		if v.Kind == yamldoc.List {
			values = v.Items
		}
		for _, v := range values {
			out = append(out, Parameter{k.Text, d.template(v)})
		}
	}
	return out
}

// headers decodes the fields that a request has, and the names of those that it goes without.
func (d *decoder) headers(n *yamldoc.Node) (fields []Parameter, without []string) {
	for k, v := range n.Entries() {
		if v.Kind == yamldoc.Null {
			without = append(without, k.Text)
		}
	}
	for _, p := range d.parameters(n) {
		if !slices.Contains(without, p.Name) {
			fields = append(fields, p)
		}
	}
	return fields, without
}

func (d *decoder) captures(n *yamldoc.Node) []Capture {
	var out []Capture
	for k, v := range n.Entries() {
		c := Capture{Name: k.Text}
		if v.Kind == yamldoc.String {
			c.Path = d.path(v)
		} else {
			c.Header = v.Get("header").Text
		}
		out = append(out, c)
	}
	return out
}

func (d *decoder) expect(n *yamldoc.Node) *Expect {
	if n == nil {
		return nil
	}
	e := &Expect{Status: d.number(n.Get("status")), Body: d.optional(n.Get("body")), JSON: d.json(n)}
	for k, v := range n.Get("headers").Entries() {
		demand := HeaderDemand{Name: k.Text}
		if v.Kind != yamldoc.Null {
			demand.Value = d.optional(v)
		}
		e.Header = append(e.Header, demand)
	}
	for k, v := range n.Get("count").Entries() {
		if e.Count == nil {
			e.Count = map[int]int{}
		}
		e.Count[d.number(k)] = d.number(v)
	}
	for _, item := range n.Get("one_of").Elements() {
		e.OneOf = append(e.OneOf, *d.expect(item))
	}
	return e
}

func (d *decoder) pattern(n *yamldoc.Node) *Pattern {
	if n == nil {
		return nil
	}
	p := &Pattern{Event: d.optional(n.Get("event")), Data: d.optional(n.Get("data")), JSON: d.json(n)}
	if event := n.Get("event"); event != nil {
		p.Line, p.Column = event.Line, event.Column
	}
	return p
}

// json decodes the keys json, matches and absent of an expectation or a pattern; nil when there are none.
func (d *decoder) json(n *yamldoc.Node) *JSON {
	doc, matches, absent := n.Get("json"), n.Get("matches"), n.Get("absent")
	if doc == nil && matches == nil && absent == nil {
		return nil
	}
	j := &JSON{}
	if doc != nil && byPath(doc) {
		for k, v := range doc.Entries() {
			j.At = append(j.At, PathValue{d.path(k), d.value(v)})
		}
	} else if doc != nil {
		j.Whole = d.value(doc)
	}
	for k, v := range matches.Entries() {
		j.Matches = append(j.Matches, PathMatch{d.path(k), d.regexp(v)})
	}
	for _, item := range absent.Elements() {
		j.Absent = append(j.Absent, d.path(item))
	}
	return j
}

// byPath reports whether a map under json is one from JSONPath to value rather than a document.
func byPath(n *yamldoc.Node) bool {
	if n.Kind != yamldoc.Map || len(n.Keys) == 0 {
		return false
	}
	return !slices.ContainsFunc(n.Keys, func(k *yamldoc.Node) bool { return !strings.HasPrefix(k.Text, "$") || strings.HasPrefix(k.Text, "${{") })
}

func (d *decoder) rules(n *yamldoc.Node) Rules {
	if n == nil {
		return Rules{}
	}
	r := Rules{Headers: texts(n.Get("headers"))}
	for _, h := range n.Get("headers").Elements() {
		r.HeaderAt = append(r.HeaderAt, Place{d.file, h.Line, h.Column})
	}
	for _, v := range n.Get("volatile").Elements() {
		r.Volatile = append(r.Volatile, d.volatile(v))
	}
	r.Volatile = append(r.Volatile, d.numbers(n.Get("numbers"))...)
	for _, v := range n.Get("ids").Elements() {
		r.IDs = append(r.IDs, d.idShape(v))
	}
	for k, v := range n.Get("streams").Entries() {
		if r.Streams == nil {
			r.Streams = map[string]StreamRule{}
		}
		r.Streams[k.Text] = d.streamRule(k, v)
	}
	for k, v := range n.Get("stubs").Entries() {
		if r.Stubs == nil {
			r.Stubs = map[string]StubRules{}
		}
		of := StubRules{Rules: d.rules(v), Place: Place{d.file, k.Line, k.Column}}
		of.NoHeaders = v.Get("headers") != nil && len(of.Headers) == 0
		r.Stubs[k.Text] = of
	}
	for k, v := range n.Get("mcp").Entries() {
		if r.MCP == nil {
			r.MCP = map[string]Rules{}
		}
		r.MCP[k.Text] = d.rules(v)
	}
	return r
}

func (d *decoder) streamRule(k, n *yamldoc.Node) StreamRule {
	r := StreamRule{Exact: n.Get("framing").Str() == "exact", File: d.file, Line: k.Line, Column: k.Column}
	for _, name := range n.Get("optional").Elements() {
		r.Optional = append(r.Optional, name.Text)
		r.OptionalAt = append(r.OptionalAt, Place{d.file, name.Line, name.Column})
	}
	if o := n.Get("order"); o != nil {
		within := o.Get("within")
		r.OrderWithin, r.OrderAt = d.path(within), Place{d.file, within.Line, within.Column}
		for _, name := range o.Get("anchors").Elements() {
			r.Anchors = append(r.Anchors, name.Text)
			r.AnchorsAt = append(r.AnchorsAt, Place{d.file, name.Line, name.Column})
		}
	}
	r.Collapse = d.collapses(n.Get("collapse"))
	if g := n.Get("gap"); g != nil {
		r.Gap = &Gap{Max: d.duration(g.Get("max")), Tolerance: d.duration(g.Get("tolerance"))}
	}
	if h := n.Get("heartbeat"); h != nil {
		r.Heartbeat = d.heartbeat(h)
	}
	return r
}

// rows decodes the table: one map from column to value for each row.
func (d *decoder) rows(n *yamldoc.Node) []map[string]Value {
	var out []map[string]Value
	for _, item := range n.Elements() {
		row := map[string]Value{}
		for k, v := range item.Entries() {
			row[k.Text] = d.value(v)
		}
		if len(out) > 0 {
			d.sameColumns(item, row, out[0])
		}
		out = append(out, row)
	}
	return out
}

func (d *decoder) sameColumns(n *yamldoc.Node, row, first map[string]Value) {
	for _, name := range slices.Sorted(maps.Keys(first)) {
		if _, ok := row[name]; !ok {
			d.problem(n, fmt.Sprintf("row %q has no column %q", row["name"].text(), name), "give every row the same columns")
		}
	}
	for _, k := range n.Keys {
		if _, ok := first[k.Text]; !ok {
			d.problem(k, fmt.Sprintf("column %q is not in the first row", k.Text), problem.OneOf(k.Text, slices.Collect(maps.Keys(first))))
		}
	}
}

func (d *decoder) value(n *yamldoc.Node) Value {
	return parseValue(n, func(at *yamldoc.Node, err error) { d.problem(at, err.Error(), templateFix) })
}

const templateFix = "write ${{ name }} with the name of a variable, a capture, a column (row.…), unique, directory or lockstep; $${{ stands for the characters themselves"

func (d *decoder) template(n *yamldoc.Node) Template { return d.templateText(n, n.Text) }

func (d *decoder) templateText(n *yamldoc.Node, text string) Template {
	t, err := parseTemplate(text)
	if err != nil {
		d.problem(n, err.Error(), templateFix)
	}
	return t
}

// optional decodes a template that may be missing.
func (d *decoder) optional(n *yamldoc.Node) *Template {
	if n == nil {
		return nil
	}
	t := d.template(n)
	return &t
}

func (d *decoder) duration(n *yamldoc.Node) time.Duration {
	if n == nil {
		return 0
	}
	v, err := time.ParseDuration(n.Text)
	if err != nil || v <= 0 {
		d.problem(n, fmt.Sprintf("%q is no time to wait", n.Text), "write a time above 0 with its unit, such as 300ms, 2s or 1m")
	}
	return v
}

// number returns an integer, which the schema has found within bounds; 0 when it is not given.
func (d *decoder) number(n *yamldoc.Node) int {
	if n == nil {
		return 0
	}
	v, err := strconv.Atoi(n.Text)
	if err != nil { // 2e2 and 200.0 are integers to a schema
		d.problem(n, fmt.Sprintf("%s is not written as a whole number", n.Text), "write it in digits")
	}
	return v
}

func texts(n *yamldoc.Node) []string {
	var out []string
	for _, item := range n.Elements() {
		out = append(out, item.Text)
	}
	return out
}
