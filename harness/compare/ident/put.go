package ident

// Put sets a value in a map, and makes the map first if it is nil. Most comparisons never use most of their maps.
func Put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}
