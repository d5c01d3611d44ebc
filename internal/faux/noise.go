package faux

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"
)

// Noises lists correct servers that generate a value in a format that no judge can recognise. Two servers of a kind
// therefore differ in it. The value is in the field "noise" of each item. The contract must allow undeclared fields.
// In is a scenario that shows the value.
func Noises() []*Fault {
	return []*Fault{
		{ID: "odd-id", Doc: "it gives each item a second id, of plain letters", In: "items/story", answer: noisy(func(id string) any {
			return strings.Map(func(c rune) rune { // the item's own id, spelled differently
				if c >= '0' && c <= '9' {
					return 'g' + c - '0'
				}
				return c
			}, strings.TrimPrefix(id, "itm_"))
		})},
		{ID: "millis", Doc: "it adds the time of its response, in fractional milliseconds", In: "items/story", answer: noisy(func(string) any {
			return float64(time.Now().UnixMicro()|1) / 1000 // |1, so that there is always a fraction
		})},
		{ID: "random", Doc: "it adds a random number", In: "items/story", answer: noisy(func(string) any {
			return rand.IntN(1000)
		})},
	}
}

// Stamps lists correct servers whose items all have the same UUID in the field "noise". The UUID is either constant,
// or generated when the process starts. The contract must allow undeclared fields.
func Stamps() []*Fault {
	stamp := func(uuid string) func(*answer) { return noisy(func(string) any { return uuid }) }
	return []*Fault{
		{ID: "stamp", Doc: "it adds a UUID that is constant in its code", In: "items/story", answer: stamp("0b6e4f0a-3c52-4a57-9b0a-0d6fd7c3f001")},
		{ID: "other-stamp", Doc: "it adds another UUID that is constant in its code", In: "items/story", answer: stamp("77d0c3b1-8f4e-4b8b-a1f5-5d8f10a7e002")},
		{ID: "instance", Doc: "it adds a UUID that is generated when it starts", In: "items/story", answer: stamp(fmt.Sprintf("%08x-9f6e-4d1b-8c11-5d8f10a7e003", rand.Uint32()))},
	}
}

// noisy returns a hook that adds the field "noise" to every item of every answer.
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

// Clocks lists servers by the times they report. The contract must allow undeclared fields.
func Clocks() []*Fault {
	touched := func(by time.Duration) func(*answer) {
		return ofItems(func(o object) { o["updatedAt"] = o["createdAt"].(time.Time).Add(by) })
	}
	var answers atomic.Int64
	return []*Fault{
		{ID: "touched", Doc: "it adds the time of the last change to items", In: "items/story", answer: touched(0)},
		{ID: "touched-before", Doc: "it adds a time of the last change that is before the creation", In: "items/story", answer: touched(-time.Minute)},
		{ID: "unstable", Doc: "it gives an item another time of creation in each response", In: "items/story", answer: ofItems(func(o object) {
			o["createdAt"] = o["createdAt"].(time.Time).Add(time.Duration(answers.Add(1)) * time.Second)
		})},
		{ID: "fine", Doc: "it writes times with a fraction of a second", In: "items/story", answer: ofItems(func(o object) {
			o["createdAt"] = o["createdAt"].(time.Time).UTC().Format("2006-01-02T15:04:05.000000Z")
		})},
	}
}
