package mutate

import (
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/archive"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// What an archive holds is a document as well, see internal/archive. A mutant of it is packed again.

// archiveIn returns the archive that an answer has; nil when it has none that can be read.
func archiveIn(r *transcript.Response) *archive.Document {
	if !archive.Is(r.Header.ContentType()) || !r.Body.Whole() {
		return nil
	}
	doc, err := archive.Read(r.Body.Bytes)
	if err != nil {
		return nil
	}
	return doc
}

// archived adds what an archive holds to the documents.
func (s *Subject) archived(a *answer) {
	doc := archiveIn(a.x.Response)
	if doc == nil {
		s.lined(a)
		return
	}
	original := a.x.Response.Body.Bytes
	d := &document{
		s: s, where: a.where + " body", data: doc.JSON, seen: seen(s.Candidate, a.x.Done), site: a.site(), archive: true,
		put: func(data []byte) *transcript.Transcript {
			return s.withExchange(a.step, a.index, func(x *transcript.Exchange) {
				packed, err := archive.Pack(data, original)
				if err != nil { // the document is broken, and so is the archive then
					packed = data
				}
				send(x.Response, packed)
			})
		},
	}
	var ref []byte
	if a.ref != nil {
		if other := archiveIn(a.ref.Response); other != nil {
			ref = other.JSON
		}
	}
	s.take(d, ref)
}

// lined adds what the lines of a body hold to the documents.
func (s *Subject) lined(a *answer) {
	linesIn := func(r *transcript.Response) []byte {
		list, _ := archive.Lines(r.Header.ContentType(), r.Body.Bytes)
		return list
	}
	list := linesIn(a.x.Response)
	if list == nil {
		return
	}
	d := &document{
		s: s, where: a.where + " body", data: list, seen: seen(s.Candidate, a.x.Done), site: a.site(),
		put: func(data []byte) *transcript.Transcript {
			return s.withExchange(a.step, a.index, func(x *transcript.Exchange) { send(x.Response, asLines(data)) })
		},
	}
	var ref []byte
	if a.ref != nil {
		ref = linesIn(a.ref.Response)
	}
	s.take(d, ref)
}

// asLines writes the elements of a list as lines; what is no list stays what it is.
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

// rewrittenBody returns the body of an answer with other texts: of an archive, those of its entries.
func rewrittenBody(r *transcript.Response, replace func(string) string) []byte {
	if archiveIn(r) == nil {
		return []byte(replace(string(r.Body.Bytes)))
	}
	if packed, err := archive.Replace(r.Body.Bytes, replace); err == nil && packed != nil {
		return packed
	}
	return r.Body.Bytes
}
