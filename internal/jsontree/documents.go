package jsontree

import "hash/maphash"

// Documents is a cache of parsed documents. A judge asks for the same answer when it checks the contract and the
// expectations, and when it compares the targets. Callers must not change the trees.
//
// Documents is not safe for concurrent use; each judgement has its own. A nil *Documents parses every time.
type Documents struct {
	seed  maphash.Seed
	known map[uint64]document // by a hash of the content
	size  int                 // of all cached contents
}

type document struct {
	text    string
	root    *Node
	defects []Defect
	err     error
}

const (
	longestKept = 64 << 10 // larger documents are rare, and cost more memory than they save time
	mostKept    = 4 << 20  // in all; documents beyond that are parsed each time
)

// NewDocuments returns an empty cache for about the given number of documents.
func NewDocuments(about int) *Documents {
	return &Documents{seed: maphash.MakeSeed(), known: make(map[uint64]document, about)}
}

// Parse reads a document as the function Parse does.
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

// Has reports whether a document is in the cache.
func (d *Documents) Has(data []byte) bool {
	if d == nil || len(data) > longestKept {
		return false
	}
	known, ok := d.known[maphash.Bytes(d.seed, data)]
	return ok && known.text == string(data)
}
