package jsonwire

// Pairs are an ordered object with string values. Each name occurs once.
type Pairs []Pair

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

// Write writes the object, or `{}` if it is nil.
func (p Pairs) Write(w *Writer) {
	w.Open('{')
	for _, pair := range p {
		w.Key(pair.Name).String(pair.Value)
	}
	w.Close('}')
}

// WriteOrNull writes the object, or null if it is nil.
func (p Pairs) WriteOrNull(w *Writer) {
	if p == nil {
		w.Null()
		return
	}
	p.Write(w)
}
