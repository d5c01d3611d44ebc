package jsonwire

// Pairs are an object whose values are strings, in its order. A name is there once.
type Pairs []Pair

// A Pair is one member.
type Pair struct{ Name, Value string }

// Get returns the value of a name, and false if it is not there.
func (p Pairs) Get(name string) (string, bool) {
	for _, pair := range p {
		if pair.Name == name {
			return pair.Value, true
		}
	}
	return "", false
}

// Pairs writes the object, `{}` if it is nil.
func (w *Writer) Pairs(pairs Pairs) {
	w.Open('{')
	for _, pair := range pairs {
		w.Key(pair.Name)
		w.String(pair.Value)
	}
	w.Close('}')
}

// PairsOrNull writes the object, null if it is nil.
func (w *Writer) PairsOrNull(pairs Pairs) {
	if pairs == nil {
		w.Null()
		return
	}
	w.Pairs(pairs)
}
