package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// eventData compares the data of a stream's events as JSON. It implements streamdiff.Data.
type eventData struct {
	json     *jsondiff.Comparer
	volatile []jsondiff.Volatile
	jsonRPC  bool // the data are messages of JSON-RPC 2.0
}

// rulesFor returns the rules for the values of an event. A server numbers its own requests as it likes.
func (d *eventData) rulesFor(ev *transcript.Event) []jsondiff.Volatile {
	if !d.jsonRPC || !strings.Contains(ev.Data, `"id"`) {
		return d.volatile
	}
	if root, err := d.Parse(ev); err != nil || root.Member("method") == nil {
		return d.volatile
	}
	return append([]jsondiff.Volatile{{At: "$.id", Kind: jsondiff.ID}}, d.volatile...)
}

// BindSent binds the values that two corresponding sent messages have in the same places.
func (d *eventData) BindSent(at ident.Location, ref, cand *transcript.Event) {
	byRule := jsondiff.AllowsIDs(d.volatile)
	d.json.BindSent(ident.NewSentBinder(d.json.IDs, at, byRule), byRule, []byte(ref.Data), []byte(cand.Data))
}

// eventContent is an event's data, as JSON if it looks like an object or a list.
func eventContent(ev *transcript.Event) jsondiff.Content {
	data := strings.TrimSpace(ev.Data)
	if data != "" && (data[0] == '{' || data[0] == '[') {
		return jsondiff.Content{Data: []byte(ev.Data)}
	}
	return jsondiff.Content{Data: []byte(ev.Data), NotJSON: "it is neither an object nor a list"}
}

func (d *eventData) Compare(at ident.Place, ref, cand *transcript.Event, report func(diff.Difference)) {
	d.json.Content(at, d.rulesFor(ref), [2]jsondiff.Content{eventContent(ref), eventContent(cand)}, report)
}

func (d *eventData) Encoded(at ident.Place, ref, cand string, report func(diff.Difference)) bool {
	return d.json.Encoded(at, ref, cand, report)
}

func (d *eventData) Outline(skeletons ident.Skeletons, side int, ev *transcript.Event) string {
	return d.json.OutlineBy(skeletons, side, eventContent(ev), d.rulesFor(ev))
}

func (d *eventData) Digest(ref, cand *transcript.Event) string {
	return d.json.ContentsDigest([2]jsondiff.Content{eventContent(ref), eventContent(cand)}, d.rulesFor(ref))
}

func (d *eventData) Defects(ev *transcript.Event) []jsontree.Defect {
	_, defects, _ := eventContent(ev).Read(d.json.Docs)
	return defects
}

func (d *eventData) Parse(ev *transcript.Event) (*jsontree.Node, error) {
	root, _, err := d.json.Docs.Parse([]byte(ev.Data))
	return root, err
}

func (d *eventData) With(ids *ident.Bindings) streamdiff.Data {
	return &eventData{d.json.With(ids), d.volatile, d.jsonRPC}
}
