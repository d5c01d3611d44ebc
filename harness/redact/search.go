package redact

import (
	"bytes"
	"slices"
)

// A search finds many texts in one pass that skips most bytes. The longer the texts, the more it skips. The algorithm
// is that of Wu and Manber (A fast algorithm for multi-pattern searching, 1994), with blocks of two bytes.
type search struct {
	replacements []replacement    // the longest first
	window       int              // in bytes: the length of the shortest text, or less
	shift        [1 << 12]uint8   // how far the window can move after a block
	ending       map[uint16][]int // the texts that have the block at the end of their first window
}

// A replacement is a secret and its alias, which has the same length.
type replacement struct{ secret, alias []byte }

// longestWindow limits the window. With a longer one, many secrets would leave no block that can be skipped.
const longestWindow = 32

func newSearch(wanted []replacement) *search {
	s := &search{replacements: wanted, ending: map[uint16][]int{}}
	slices.SortStableFunc(s.replacements, func(a, b replacement) int { return len(b.secret) - len(a.secret) })
	s.window = min(len(s.replacements[len(s.replacements)-1].secret), longestWindow)
	for i := range s.shift {
		s.shift[i] = uint8(s.window - 1)
	}
	for i, w := range s.replacements {
		for at := 1; at < s.window; at++ {
			block := blockOf(w.secret, at)
			s.shift[block] = min(s.shift[block], uint8(s.window-1-at))
			if at == s.window-1 {
				s.ending[block] = append(s.ending[block], i)
			}
		}
	}
	return s
}

// blockOf returns a number for the two bytes that end at an index.
func blockOf(text []byte, at int) uint16 {
	return (uint16(text[at-1])<<4 ^ uint16(text[at])) & (1<<12 - 1)
}

// next returns the next secret from an index on, and where it begins. It returns nil when there is none.
func (s *search) next(text []byte, from int) (int, *replacement) {
	for end := from + s.window - 1; end < len(text); {
		block := blockOf(text, end)
		if skip := s.shift[block]; skip > 0 {
			end += int(skip)
			continue
		}
		for _, i := range s.ending[block] {
			if w := &s.replacements[i]; bytes.HasPrefix(text[end-s.window+1:], w.secret) {
				return end - s.window + 1, w
			}
		}
		end++
	}
	return 0, nil
}
