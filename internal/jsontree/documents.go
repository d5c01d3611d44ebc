package jsontree

import "hash/maphash"

// Documents reads documents, and each content only once: a judgement asks for the same answer when it is held against the
// contract, against what is expected, and against the other target's. Who asks must leave the trees as they are.
//
// It is for one judgement and one goroutine. Nil reads a document each time that it is asked for.
type Documents struct {
	seed  maphash.Seed
	known map[uint64]document // by a hash of the content
	size  int                 // of all contents that are known
}

type document struct {
	text    string
	root    *Node
	defects []Defect
	err     error
}

const (
	longestKept = 64 << 10 // larger documents are few, and take more memory than the time is worth
	mostKept    = 4 << 20  // of all of them; what comes then is read each time
)

// NewDocuments returns one that has read nothing. There will be about so many documents.
func NewDocuments(about int) *Documents {
	return &Documents{seed: maphash.MakeSeed(), known: make(map[uint64]document, about)}
}

// Parse reads a document as the function of that name does.
func (d *Documents) Parse(data []byte) (*Node, []Defect, error) {
	doc := d.read(data)
	return doc.root, doc.defects, doc.err
}

func (d *Documents) read(data []byte) document {
	if d == nil || len(data) > longestKept {
		return newDocument(data)
	}
	hash := maphash.Bytes(d.seed, data)
	doc, taken := d.known[hash]
	if taken && doc.text == string(data) {
		return doc
	}
	doc = newDocument(data)
	if d.size += len(data); !taken && d.size <= mostKept {
		d.known[hash] = doc
	}
	return doc
}

func newDocument(data []byte) document {
	doc := document{text: string(data)}
	doc.root, doc.defects, doc.err = parse(doc.text)
	return doc
}

// Has reports whether a document has been read and is kept.
func (d *Documents) Has(data []byte) bool {
	if d == nil || len(data) > longestKept {
		return false
	}
	known, ok := d.known[maphash.Bytes(d.seed, data)]
	return ok && known.text == string(data)
}
