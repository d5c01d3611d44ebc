package compare

import (
	"bytes"
	"cmp"
	"errors"
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A body that consists of lines of JSON (see archive.Lines) is compared as a list of their values.

// lastLine compares whether the last line of JSON ends in a line feed. A client that reads line by line waits for it.
func (c *comparison) lastLine(sides [2]jsondiff.Content, ref, cand *transcript.Response, report func(diff.Difference)) {
	const end, noEnd = "a line feed at the end", "no line feed at the end"
	r, o := bytes.HasSuffix(ref.Body.Bytes, []byte("\n")), bytes.HasSuffix(cand.Body.Bytes, []byte("\n"))
	if sides[0].Lines && r != o {
		report(diff.Difference{
			Reason: diff.Because(diff.BodyDiffers, diff.LastLineFeed), At: diff.At{Part: "body"}, Ref: showIf(r, end, noEnd), Cand: showIf(o, end, noEnd),
		})
	}
}

// showIf shows one of two texts.
func showIf(is bool, text, otherwise string) diff.Excerpt {
	if is {
		return diff.Show(text)
	}
	return diff.Show(otherwise)
}

// entryOrder compares the order of the entries that both archives have. Comparing the documents finds all other
// differences.
func (c *comparison) entryOrder(sides [2]jsondiff.Content, report func(diff.Difference)) {
	if len(sides[0].Entries) == 0 || len(sides[1].Entries) == 0 {
		return
	}
	named := c.json.IDs.NamedSkeletons() // by now, the generated values in the names are bound
	var bare [2]map[string]bool
	for side, s := range sides {
		bare[side] = map[string]bool{}
		for _, name := range s.Entries {
			bare[side][named.Of(side, name)] = true
		}
	}
	var common, names [2][]string
	for side, s := range sides {
		for _, name := range s.Entries {
			if stem := named.Of(side, name); bare[1-side][stem] {
				common[side], names[side] = append(common[side], stem), append(names[side], name)
			}
		}
	}
	if len(common[0]) != len(common[1]) || slices.Equal(common[0], common[1]) {
		return
	}
	report(diff.Difference{
		Reason: diff.Because(diff.OrderDiffers, diff.EntriesReordered), At: diff.At{Part: "body"}, Ref: showNames(names[0]), Cand: showNames(names[1]),
	})
}

func showNames(names []string) diff.Excerpt {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return diff.Show(strings.Join(quoted, ", "))
}

// isSocket reports whether a response opens a socket.
func isSocket(x *transcript.Exchange) bool { return x.Stream != "" && x.Response.Status == 101 }

// body compares two bodies by their contents: see bodyContent.
func (c *comparison) body(step *transcript.Step, ref, cand *transcript.Exchange, report func(diff.Difference)) {
	at := diff.At{Part: "body"}
	if ref.Stream != "" || cand.Stream != "" {
		if ref.Stream != cand.Stream {
			const body = "a body"
			stream := "an event stream"
			if isSocket(ref) || isSocket(cand) {
				stream = "a socket"
			}
			report(diff.Difference{
				Reason: diff.Because(diff.BodyDiffers, diff.OneIsStream, stream), At: at, Ref: showIf(ref.Stream != "", stream, body), Cand: showIf(cand.Stream != "", stream, body),
			})
		}
		return // events are compared stream by stream
	}
	if brokenArchive(ref) != "" || brokenArchive(cand) != "" { // reported as unmet
		c.found.notCompared("an archive that cannot be read", 1)
		return
	}
	if c.skipUnreadable(unreadableResponse(ref), unreadableResponse(cand)) {
		return
	}
	sides := bodyContents(ref.Response, cand.Response)
	if sides[0].NotJSON != sides[1].NotJSON && c.fields.comparesType(step.ID) {
		// The different types are reported already. They do not make the bodies different.
		sides[0].NotJSON, sides[1].NotJSON = "", ""
	}
	rules := c.rules.volatile(step.ID)
	if succeeded(ref) != succeeded(cand) && !c.json.Comparable(sides, rules) {
		// An error and a success have nothing in common that could be compared member by member.
		report(jsondiff.WholeDiffers(diff.Because(diff.BodyDiffers, diff.BodiesOfOtherOutcome), at, sides, c.json.ContentsDigest(sides, rules)))
		return
	}
	c.json.Content(ident.Place{Where: ident.InStep(step.ID, at), Seen: c.runs.seen(ref.Done, cand.Done), Timeline: timelineOf(step), Of: [2]string{operationOf(ref), operationOf(cand)}}, rules, sides, report)
	c.entryOrder(sides, report)
	c.lastLine(sides, ref.Response, cand.Response, report)
}

// timelineOf returns the timeline of a step's responses; "" when they have no order.
func timelineOf(step *transcript.Step) string {
	if step.Burst {
		return ""
	}
	branch := step.ID[:strings.LastIndexByte(step.ID, '.')+1]
	return "answers " + branch
}

// skipUnreadable notes that two bodies are not compared because one of them cannot be read. It returns false when both
// can.
func (c *comparison) skipUnreadable(ref, cand string) bool {
	if cmp.Or(ref, cand) == "" {
		return false
	}
	c.found.notCompared("a body in a coding that cannot be read", 1)
	return true
}

// A body whose type is a ZIP archive is compared by its contents, as a document whose members are the entries: see
// harness/internal/archive. So a rule selects an entry by a JSONPath. The order of the entries is compared as well.
// Their times and the compression are not.

// archiveIn reads the archive in a response. It returns nil when the response does not declare an archive, or when its
// body is not completely known.
func archiveIn(r *transcript.Response) (*archive.Document, error) {
	if !archive.Is(r.Header.ContentType()) || r.Body.Undecoded(r.Header) || !r.Body.Whole() {
		return nil, nil
	}
	if w := r.Body.Withheld; w != nil {
		return &archive.Document{}, errors.New(w.Archive)
	}
	doc, err := archive.Read(r.Body.Bytes)
	if err != nil {
		return &archive.Document{}, err
	}
	return doc, nil
}

// brokenArchive returns what is wrong with the archive in a response; "" when nothing is. A response to HEAD has no
// body, so it is not checked.
func brokenArchive(x *transcript.Exchange) string {
	if !hasBody(x) || !succeeded(x) {
		return ""
	}
	if _, err := archiveIn(x.Response); err != nil {
		return err.Error()
	}
	return ""
}

func textContent(r *transcript.Response) jsondiff.Content {
	return jsondiff.Content{Data: r.Body.Bytes, NotJSON: "its content type is not JSON"}
}

// bodyContents returns the contents of two bodies. If only one consists of lines of JSON, its content is text, because
// a client that reads the other one cannot read it.
func bodyContents(ref, cand *transcript.Response) [2]jsondiff.Content {
	sides := [2]jsondiff.Content{bodyContent(ref), bodyContent(cand)}
	if sides[0].Lines != sides[1].Lines {
		for side, r := range [2]*transcript.Response{ref, cand} {
			if sides[side].Lines {
				sides[side] = textContent(r)
			}
		}
	}
	return sides
}

func bodyContent(r *transcript.Response) jsondiff.Content {
	if isJSON(r.Header) {
		return jsondiff.Content{Data: r.Body.Bytes}
	}
	if doc, err := archiveIn(r); doc != nil && err == nil {
		return jsondiff.Content{Data: doc.JSON, Entries: doc.Names}
	}
	if list, ok := archive.Lines(r.Header.ContentType(), r.Body.Bytes); ok {
		return jsondiff.Content{Data: list, Lines: true}
	}
	return textContent(r)
}

// isJSON reports whether a message declares its body as JSON.
func isJSON(h transcript.Header) bool {
	value, _ := h.Get("Content-Type")
	if value == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(value)
	return err == nil && isJSONType(media)
}

func requestContent(r *transcript.Request) jsondiff.Content { return bodyContent(asResponse(r)) }

// asResponse returns the header and the body of a request as a response.
func asResponse(r *transcript.Request) *transcript.Response {
	return &transcript.Response{Header: r.Header, Body: r.Body}
}
