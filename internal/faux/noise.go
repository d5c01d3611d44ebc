package faux

import (
	"math/rand/v2"
	"strings"
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
		{ID: "micros", Doc: "it says when it answers, in microseconds", In: "items/story", answer: noisy(func(string) any {
			return time.Now().UnixMicro()
		})},
		{ID: "random", Doc: "it draws a number", In: "items/story", answer: noisy(func(string) any {
			return rand.IntN(1000)
		})},
	}
}

// noisy returns a hook that adds a value to every item of every answer.
func noisy(value func(id string) any) func(*answer) {
	return func(a *answer) {
		items, isList := a.value.([]any)
		if !isList {
			items = []any{a.value}
		}
		for _, it := range items {
			if o, ok := it.(object); ok && o["id"] != nil {
				o["noise"] = value(o["id"].(string))
			}
		}
	}
}
