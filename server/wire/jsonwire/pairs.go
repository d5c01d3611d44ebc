package jsonwire

import "errors"

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

// OrEmpty returns the object, or an empty one if it is nil.
func (p Pairs) OrEmpty() Pairs {
	if p == nil {
		return Pairs{}
	}
	return p
}

// Write writes the object, or `{}` if it is nil.
func (p Pairs) Write(w *Writer) {
	w.Open('{')
	for _, pair := range p {
		w.Key(pair.Name).String(pair.Value)
	}
	w.Close('}')
}

// MarshalJSON returns the object as JSON, or null if it is nil.
func (p Pairs) MarshalJSON() ([]byte, error) {
	if p == nil {
		return []byte("null"), nil
	}
	return Of(p), nil
}

// UnmarshalJSON reads an object whose values are strings, or null.
func (p *Pairs) UnmarshalJSON(json []byte) error {
	object, err := Parse(json)
	if *p = nil; err != nil || object.Kind() == "null" {
		return err
	}
	if object.Kind() != "object" {
		return errors.New("not an object of strings")
	}
	*p = Pairs{}
	for name, value := range object.Members() {
		if value.Kind() != "string" {
			return errors.New("not an object of strings")
		}
		*p = append(*p, Pair{name.Str(), value.Str()})
	}
	return nil
}
