package clienttools

import (
	"container/list"
	"iter"
)

// An ordered map yields its entries in the order in which their keys were first set. The zero value is empty.
type ordered[K comparable, V any] struct {
	entries list.List // its elements are *entry[K, V]
	places  map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func (o *ordered[K, V]) get(key K) (value V, ok bool) {
	place, ok := o.places[key]
	if !ok {
		return value, false
	}
	return place.Value.(*entry[K, V]).value, true
}

// set adds an entry at the end, or replaces the value of an existing one.
func (o *ordered[K, V]) set(key K, value V) {
	if place, ok := o.places[key]; ok {
		place.Value.(*entry[K, V]).value = value
		return
	}
	if o.places == nil {
		o.places = make(map[K]*list.Element)
	}
	o.places[key] = o.entries.PushBack(&entry[K, V]{key, value})
}

func (o *ordered[K, V]) delete(key K) {
	if place, ok := o.places[key]; ok {
		o.entries.Remove(place)
		delete(o.places, key)
	}
}

// shorten deletes the first entries until there are at most the given number.
func (o *ordered[K, V]) shorten(most int) {
	for o.len() > most {
		o.delete(o.entries.Front().Value.(*entry[K, V]).key)
	}
}

func (o *ordered[K, V]) len() int { return len(o.places) }

// all yields the entries. The entry that was just yielded may be deleted.
func (o *ordered[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for place := o.entries.Front(); place != nil; {
			e := place.Value.(*entry[K, V])
			place = place.Next()
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}
