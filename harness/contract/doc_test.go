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
