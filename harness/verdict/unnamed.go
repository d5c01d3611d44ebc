package verdict

import (
	"maps"
	"slices"
)

// mostUnnamed bounds how many names of header fields a judgement keeps: a server can make them up.
const mostUnnamed = 500

// addUnnamed counts header fields that differ and that no rule names.
func (c *Compared) addUnnamed(names map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(names)) { // so that the same run keeps the same ones
		if c.Unnamed == nil {
			c.Unnamed = map[string]int{}
		}
		if _, known := c.Unnamed[name]; known || len(c.Unnamed) < mostUnnamed {
			c.Unnamed[name] += names[name]
		}
	}
}
