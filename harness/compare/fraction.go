package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Whether a time of RFC 3339 has a part of a second, and in how many digits, is seen by clients that read it by hand. Of one
// time it says little: one in a thousand of a clock of milliseconds has none, when zeros are left out at the end. So what
// has been seen at one name is put together, and told when it can hardly be chance any more.

// fractions are the times that one side has told at a name, with a part of a second and without.
type fractions struct {
	with, without map[string]bool
	digits        int // of the finest part that was seen, without zeros at its end
	told          bool
}

// fractionOf returns the digits of a part of a second; "" when there is none.
func fractionOf(text string) string {
	_, behind, ok := strings.Cut(text, ".")
	if !ok {
		return ""
	}
	n := 0
	for n < len(behind) && digit(behind[n]) {
		n++
	}
	return behind[:n]
}

// fraction says how two times of RFC 3339 at one name are written differently, as far as the part of a second goes; "" when
// they are not, or when it may be chance.
func (b *bindings) fraction(rule *Volatile, name string, texts [2]string) string {
	if rule != nil && rule.Digits != "" {
		return rule.fraction(texts)
	}
	seen := b.fractions[name]
	if seen == nil {
		seen = &[2]fractions{}
		put(&b.fractions, name, seen)
	}
	for side, text := range texts {
		f := &seen[side]
		if f.with == nil {
			f.with, f.without = map[string]bool{}, map[string]bool{}
		}
		if part := fractionOf(text); part != "" {
			f.with[text] = true
			f.digits = max(f.digits, len(strings.TrimRight(part, "0")))
		} else {
			f.without[text] = true
		}
	}
	for side := range seen {
		lacks, has := &seen[side], &seen[1-side]
		// Times of one second are one text without a part, and as many as the other side's; which may have had one more.
		seen := max(len(lacks.without), len(has.with)-1)
		chance := math.Pow10(-has.digits * seen) // that all of these had none left
		if len(lacks.with) > 0 || len(has.without) > 0 || len(has.with) < several || lacks.told || chance > hardly {
			continue
		}
		lacks.told = true
		return fmt.Sprintf("the times are written differently: %s's never have a part of a second, %s's always", sideNames[side], sideNames[1-side])
	}
	return ""
}

// several is how many times there must be before anything is said of all of them.
const several = 2

// fraction says what breaks a rule about the digits of the part of a second.
func (v *Volatile) fraction(texts [2]string) string {
	want, err := strconv.Atoi(v.Digits)
	if err != nil {
		return "" // any
	}
	for side, text := range texts {
		if n := len(fractionOf(text)); n != want {
			return fmt.Sprintf("the digits behind the second are %d in %s's time, and %d by a rule", n, sideNames[side], want)
		}
	}
	return ""
}

// fraction says how two times of RFC 3339 that stand for each other are written differently; "" for what is no such time.
func (d *documents) fraction(rule *Volatile, at *spot, ref, cand string) string {
	if rfc3339Len(ref) != len(ref) || rfc3339Len(cand) != len(cand) || ref == "" {
		return ""
	}
	name := ""
	for s := at; s != nil && name == ""; s = s.up {
		name = s.names[0]
	}
	return d.b.fraction(rule, name, [2]string{ref, cand})
}

// ReadTime reads a text that is a time by its shape, and the digits behind its second; -1 where it is not of RFC 3339.
func ReadTime(text string) (moment time.Time, digits int, ok bool) {
	n := &jsontree.Node{Kind: jsontree.String, Text: text}
	if !mayBeTime(n) {
		return moment, 0, false
	}
	moment, ok = momentOf(nil, n)
	if rfc3339Len(text) != len(text) {
		return moment, -1, ok
	}
	return moment, len(fractionOf(text)), ok
}
