package faux

import "slices"

// Faults lists every fault: wrong values, wrong headers and JSON, wrong events on streams, and broken connections.
func Faults() []*Fault {
	return slices.Concat(valueFaults, headFaults, textFaults, codingFaults, eventFaults, beatFaults, wireFaults)
}
