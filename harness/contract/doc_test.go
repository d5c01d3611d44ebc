package contract

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

const guide = "../../docs/contract.md"

var update = flag.Bool("update", false, "write the table of kinds into the guide")

// The guide lists the kinds of violations as the code does.
func TestTheGuideListsTheKinds(t *testing.T) {
	var table strings.Builder
	table.WriteString("| kind | means |\n| --- | --- |\n")
	for _, k := range Kinds() {
		fmt.Fprintf(&table, "| `%s` | %s |\n", k.Kind, k.Doc)
	}
	text := testfile.Read(t, guide)
	found := regexp.MustCompile(`\| kind \| means \|\n(\|.*\n|KINDS\n)*`)
	if *update {
		text = found.ReplaceAllLiteral(text, []byte(table.String()))
		testfile.Write(t, guide, text)
	}
	if diff := cmp.Diff(table.String(), string(found.Find(text))); diff != "" {
		t.Errorf("%s differs from the code; run go test -update (-code +guide):\n%s", guide, diff)
	}
}

// Parse accepts the guide's example.
func TestTheGuidesExampleIsRight(t *testing.T) {
	text := testfile.Text(t, guide)
	_, rest, _ := strings.Cut(text, "```yaml\ncontent:\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the guide has no example of x-events")
	}
	d := parse(t, sample.API("  /x:\n    get:\n      responses:\n        '200':\n          description: ok\n          content:\n"+
		regexp.MustCompile(`(?m)^`).ReplaceAllString(strings.TrimRight(example, "\n"), "          "), "    ToolRequest: {type: object}"))
	if vs := d.Check(sample.Stream(sample.Event("tool-request", `{}`), sample.Event("ping", ``))); len(vs) > 0 {
		t.Errorf("Check: %s", long(vs))
	}
}

// Parse accepts the guide's examples of x-messages.
func TestTheGuidesExamplesOfMessagesAreRight(t *testing.T) {
	text := testfile.Text(t, guide)
	example := func(begin string) string {
		_, rest, _ := strings.Cut(text, "```yaml\n"+begin)
		body, _, ok := strings.Cut(rest, "```")
		if !ok {
			t.Fatalf("the guide has no example that begins with %q", begin)
		}
		return begin + body
	}
	socket := parse(t, sample.Head+example("paths:\n  /rooms/{id}:\n")+"components: {schemas: {Chat: {type: object, properties: {type: {}, text: {}}}}}\n")
	program := parse(t, example("openapi: 3.1.0\n"))
	for _, tc := range []struct {
		doc       *Document
		operation string
		ev        transcript.Event
		want      string
	}{
		{socket, "GET /rooms/{id}", sample.Sent(transcript.ItemText, `{"type":"join","user":"a"}`), ""},
		{socket, "GET /rooms/{id}", sample.Sent(transcript.ItemText, `{"type":"join"}`), "event data/user missing-field"},
		{program, "program", sample.Sent(transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), ""},
		{program, "program", sample.Sent(transcript.ItemLine, `{"method":"tools/list"}`), "event data/jsonrpc missing-field\nevent data/id missing-field"},
	} {
		tc.ev.Name = tc.doc.EventNamer(tc.operation)(&tc.ev)
		if got := short(tc.doc.CheckMessage(tc.operation, &tc.ev)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.ev.Data, got, tc.want)
		}
	}
}

// The formats that the guide lists are those that are checked.
func TestTheGuideListsTheFormats(t *testing.T) {
	text := testfile.Text(t, guide)
	_, rest, _ := strings.Cut(text, "These formats are checked:")
	sentence, _, _ := strings.Cut(rest, ". ")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z0-9-]+)`").FindAllStringSubmatch(sentence, -1) {
		named[m[1]] = true
	}
	checked := map[string]bool{}
	for name := range schema.StringFormats {
		checked[name] = true
	}
	for name := range schema.NumberFormats {
		checked[name] = true
	}
	if diff := cmp.Diff(checked, named); diff != "" {
		t.Errorf("formats (-checked +named):\n%s", diff)
	}
}
