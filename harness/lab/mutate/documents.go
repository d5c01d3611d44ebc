package mutate

import (
	"mime"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A scan collects the documents of a subject.
type scan struct {
	s    *Subject
	docs []*document
}

// documents returns the documents of a subject: bodies, then requests to upstreams, then events.
func documents(s *Subject) []*document {
	c := &scan{s: s}
	for r := range s.responses() {
		c.response(r)
	}
	for r := range s.requests() {
		c.request(r)
	}
	for st := range s.streams() {
		for _, e := range st.events() {
			c.event(e)
		}
	}
	return c.docs
}

// response adds a body: JSON, an archive, or lines of JSON.
func (c *scan) response(r *response) {
	d := &document{where: r.where + " body", seen: wallClock(r.t, r.x.Done), site: r.site()}
	var read func(*transcript.Response) []byte
	var write func(data, original []byte) []byte
	switch {
	case r.x.Stream == "" && isJSON(r.x.Response.Header):
		d.exchange, d.isError = r.x, r.x.Response.Status >= 400
		read, write = wholeBody, func(data, _ []byte) []byte { return data }
	case archiveIn(r.x.Response) != nil:
		d.packed = true
		read, write = archiveIn, repack
	default:
		read, write = linesIn, func(data, _ []byte) []byte { return asLines(data) }
	}
	if d.data = read(r.x.Response); d.data == nil {
		return
	}
	original := r.body()
	d.put = func(data []byte) *transcript.Transcript {
		return r.edit(func(x *transcript.Exchange) { setBody(x.Response, write(data, original)) })
	}
	var ref []byte
	if r.ref != nil {
		ref = read(r.ref.Response)
	}
	c.add(d, ref)
}

// request adds the body of a request to an upstream.
func (c *scan) request(r *request) {
	if !isJSON(r.x.Request.Header) || len(r.x.Request.Body.Bytes) == 0 {
		return
	}
	var ref []byte
	if other := r.counterpart(c.s.Reference); other != nil {
		ref = other.Body.Bytes
	}
	c.add(&document{
		where: r.where() + " body", data: r.x.Request.Body.Bytes, seen: wallClock(r.t, r.x.Sent), site: site{step: r.st.ID},
		stub: r.stub(), ruledJSON: ruledJSON{rules: c.s.Rules.UpstreamVolatile(r.st)},
		put: func(data []byte) *transcript.Transcript {
			return r.edit(func(x *transcript.Request) { x.Body = newBody(data) })
		},
	}, ref)
}

// event adds an event whose data are an object or a list.
func (c *scan) event(e *event) {
	if text := strings.TrimSpace(e.ev.Data); e.isBeat || e.ev.Comment || text == "" || text[0] != '{' && text[0] != '[' {
		return
	}
	var ref []byte
	if e.ref != nil {
		ref = []byte(e.ref.Data)
	}
	c.add(&document{
		where: e.where + " data", data: []byte(e.ev.Data), seen: wallClock(e.stream.t, e.ev.At), site: e.site(),
		put: func(data []byte) *transcript.Transcript {
			return e.edit(func(ev *transcript.Event) { ev.Data = string(data) })
		},
	}, ref)
}

// add parses a document and scans it. ref is the reference's document, or nil.
func (c *scan) add(d *document, ref []byte) {
	root, _, err := jsontree.Parse(d.data)
	if err != nil {
		return
	}
	d.root, d.origins, d.site.json = root, c.s.origins(), &d.ruledJSON
	if d.stub == "" {
		d.rules = slices.Concat(c.s.Rules.Steps[d.site.step].Volatile, c.s.Rules.Volatile)
	}
	if ref != nil {
		d.ref, _, _ = jsontree.Parse(ref)
	}
	d.scan()
	c.docs = append(c.docs, d)
}

func isJSON(h transcript.Header) bool {
	value, _ := h.Get("Content-Type")
	media, _, err := mime.ParseMediaType(value)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

func wholeBody(r *transcript.Response) []byte { return r.Body.Bytes }

// archiveIn returns the content of the archive in a response as JSON, see harness/internal/archive. It returns nil when
// there is no readable archive.
func archiveIn(r *transcript.Response) []byte {
	if !archive.Is(r.Header.ContentType()) || !r.Body.Whole() {
		return nil
	}
	doc, err := archive.Read(r.Body.Bytes)
	if err != nil {
		return nil
	}
	return doc.JSON
}

// repack packs a document as the archive that it stands for. A broken document makes a broken archive.
func repack(data, original []byte) []byte {
	packed, err := archive.Pack(data, original)
	if err != nil {
		return data
	}
	return packed
}

// linesIn returns the list of the lines of a body; nil when it has none.
func linesIn(r *transcript.Response) []byte {
	list, _ := archive.Lines(r.Header.ContentType(), r.Body.Bytes)
	return list
}

// asLines writes the elements of a list as lines. Anything else stays as it is.
func asLines(data []byte) []byte {
	root, _, err := jsontree.Parse(data)
	if err != nil || root.Kind != jsontree.Array {
		return data
	}
	var out []byte
	for _, item := range root.Items {
		out = append(item.AppendTo(out), '\n')
	}
	return out
}
