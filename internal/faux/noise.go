package faux

import (
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"
)

// Noises lists servers that are right, and that make up a value by a shape which nobody can recognise: two of a kind differ
// in it. The contract must allow fields that it does not name. What they make up is in the field "noise" of each item; In
// is a scenario that it shows in.
func Noises() []*Fault {
	return []*Fault{
		{ID: "odd-id", Doc: "it gives each item a second id, of plain letters", In: "items/story", answer: noisy(func(id string) any {
			return strings.Map(func(c rune) rune { // the item's own, in other words
				if c >= '0' && c <= '9' {
					return 'g' + c - '0'
				}
				return c
			}, strings.TrimPrefix(id, "itm_"))
		})},
		{ID: "millis", Doc: "it says when it answers, in milliseconds and a part of one", In: "items/story", answer: noisy(func(string) any {
			return float64(time.Now().UnixMicro()|1) / 1000 // never without a part
		})},
		{ID: "random", Doc: "it draws a number", In: "items/story", answer: noisy(func(string) any {
			return rand.IntN(1000)
		})},
	}
}

// noisy returns a hook that adds a value to every item of every answer.
func noisy(value func(id string) any) func(*answer) {
	return ofItems(func(o object) { o["noise"] = value(o["id"].(string)) })
}

// ofItems returns a hook that changes every item of every answer.
func ofItems(change func(object)) func(*answer) {
	return func(a *answer) {
		items, isList := a.value.([]any)
		if !isList {
			items = []any{a.value}
		}
		for _, it := range items {
			if o, ok := it.(object); ok && o["id"] != nil {
				change(o)
			}
		}
	}
}

// Clocks lists servers by what they say of times. The contract must allow fields that it does not name.
func Clocks() []*Fault {
	touched := func(by time.Duration) func(*answer) {
		return ofItems(func(o object) { o["updatedAt"] = o["createdAt"].(time.Time).Add(by) })
	}
	var answers atomic.Int64
	return []*Fault{
		{ID: "touched", Doc: "it says when items were changed last", In: "items/story", answer: touched(0)},
		{ID: "touched-before", Doc: "it says that items were changed before they were made", In: "items/story", answer: touched(-time.Minute)},
		{ID: "unstable", Doc: "it says another time of creation each time", In: "items/story", answer: ofItems(func(o object) {
			o["createdAt"] = o["createdAt"].(time.Time).Add(time.Duration(answers.Add(1)) * time.Second)
		})},
		{ID: "fine", Doc: "it tells times with a part of a second", In: "items/story", answer: ofItems(func(o object) {
			o["createdAt"] = o["createdAt"].(time.Time).UTC().Format("2006-01-02T15:04:05.000000Z")
		})},
	}
}
