package compare

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Unit is what a time or a duration is written in.
type Unit string

// The units.
const (
	Seconds      Unit = "s"
	Milliseconds Unit = "ms"
	Microseconds Unit = "us"
	Nanoseconds  Unit = "ns"
	RFC3339      Unit = "rfc3339" // for times only
)

// String is the unit in the words of a report.
func (u Unit) String() string {
	switch u {
	case Seconds:
		return "seconds"
	case Milliseconds:
		return "milliseconds"
	case Microseconds:
		return "microseconds"
	case Nanoseconds:
		return "nanoseconds"
	default:
		return "the notation of RFC 3339"
	}
}

// nanoseconds returns how many a number of the unit is.
func (u Unit) nanoseconds(number *big.Rat) *big.Rat {
	each := map[Unit]time.Duration{Seconds: time.Second, Milliseconds: time.Millisecond, Microseconds: time.Microsecond, Nanoseconds: 1}[u]
	return new(big.Rat).Mul(number, new(big.Rat).SetInt64(int64(each)))
}

// moment returns the time that a text of the unit stands for.
func (u Unit) moment(text string) (time.Time, bool) {
	if u == RFC3339 {
		t, ok := moment(tokRFC3339, text)
		return t, ok && rfc3339Len(text) == len(text)
	}
	number, ok := decimal(text)
	if !ok {
		return time.Time{}, false
	}
	ns := u.nanoseconds(number)
	whole := new(big.Int).Quo(ns.Num(), ns.Denom())
	if !whole.IsInt64() { // beyond 2262: another unit
		return time.Time{}, false
	}
	return time.Unix(0, whole.Int64()), true
}

// decimal reads a decimal number with all its digits. One that no server means, with thousands of digits, is none.
func decimal(text string) (*big.Rat, bool) {
	const most = 1000
	if len(text) > most || strings.Trim(text, "0123456789.eE+-") != "" {
		return nil, false
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if exponent, err := strconv.Atoi(text[i+1:]); err != nil || max(exponent, -exponent) > most {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// Tolerance is how far the candidate's number may be from the reference's: a decimal number, or a percentage of the
// reference's. Of durations it is a number of nanoseconds. The zero Tolerance allows any distance.
type Tolerance struct {
	Amount  string
	Percent bool
}

// exceeded reports whether two numbers are too far apart.
func (t Tolerance) exceeded(ref, cand *big.Rat) bool {
	amount, ok := decimal(t.Amount)
	if !ok {
		return false // none is given; what is no number is refused where rules are read
	}
	if t.Percent {
		amount.Mul(amount, new(big.Rat).Abs(ref))
		amount.Quo(amount, big.NewRat(100, 1))
	}
	apart := new(big.Rat).Sub(ref, cand)
	return apart.Abs(apart).Cmp(amount) > 0
}

// apart says in what two values break a rule about numbers or durations; "" when they obey it.
func (v *Volatile) apart(ref, cand string) string {
	var numbers [2]*big.Rat
	for side, text := range [2]string{ref, cand} {
		n, ok := decimal(text)
		switch {
		case !ok && v.Kind == Number && jsontree.EqualNumbers(ref, cand):
			return ""
		case !ok && v.Kind == Number:
			return sideNames[side] + "'s value is no number to measure, although a rule says so"
		case !ok || v.Kind == Duration && n.Sign() < 0:
			return sideNames[side] + "'s value is no duration in " + v.Unit.String() + ", although a rule says so"
		case v.Kind == Duration:
			n = v.Unit.nanoseconds(n)
			if v.Max > 0 && n.Cmp(new(big.Rat).SetInt64(int64(v.Max))) > 0 {
				return fmt.Sprintf("%s's duration is longer than %s, the most that a rule allows", sideNames[side], v.Max)
			}
		}
		numbers[side] = n
	}
	if !v.Tolerance.exceeded(numbers[0], numbers[1]) {
		return ""
	}
	if v.Kind == Duration {
		return "the durations are further apart than a rule allows: " + v.tolerance()
	}
	return "the numbers are further apart than a rule allows: " + v.tolerance()
}

// tolerance is the rule's in the words of a report.
func (v *Volatile) tolerance() string {
	if v.Tolerance.Percent {
		return v.Tolerance.Amount + "%"
	}
	if ns, err := strconv.ParseInt(v.Tolerance.Amount, 10, 64); v.Kind == Duration && err == nil {
		return time.Duration(ns).String()
	}
	return v.Tolerance.Amount
}

const notNear = "a time is not near the moment it was seen: "

// A timeline is the times of one rule that come one after the other: those of answers, or of the events of a stream.
// Branches that run side by side have one each.
type timeline struct{ rule, line string }

// latest is the last moment of a timeline, and when it was seen.
type latest struct{ moment, seen time.Time }

// lineOf returns the line that the answers of a step are on; "" when they come without order.
func lineOf(step *transcript.Step) string {
	if step.Burst {
		return ""
	}
	branch := step.ID[:strings.LastIndexByte(step.ID, '.')+1]
	return "answers " + branch
}

// moments checks that the moments of two times are near, not ahead, and do not go back.
func (d *documents) moments(rule *Volatile, at *spot, ref, cand *jsontree.Node, moments [2]time.Time) {
	far := d.place.astray(moments, rule.Near)
	if far == "" && rule.Near == 0 {
		far = d.b.outdated(moments, d.place)
	}
	var ahead, back []string
	for side, t := range moments {
		if by := t.Sub(d.place.seen[side]); rule.Ahead > 0 && by > rule.Ahead {
			ahead = append(ahead, fmt.Sprintf("%s's by %s", sideNames[side], by.Round(time.Millisecond)))
		}
		if by := d.back(rule, side, t); by > 0 {
			back = append(back, fmt.Sprintf("%s's by %s", sideNames[side], by))
		}
	}
	switch {
	case far != "":
		d.differ(ValueDiffers, at, ref, cand, notNear+far)
	case len(ahead) > 0:
		d.differ(ValueDiffers, at, ref, cand, "a time lies ahead of the moment it was seen: "+strings.Join(ahead, ", "))
	case len(back) > 0:
		d.differ(ValueDiffers, at, ref, cand, "a time goes back: "+strings.Join(back, ", "))
	}
}

// back returns by how much a time lies before the one that was seen before it; 0 when the rule has nothing against it.
func (d *documents) back(rule *Volatile, side int, t time.Time) time.Duration {
	if !rule.Monotone || d.place.line == "" {
		return 0
	}
	line := timeline{rule.At, d.place.line}
	last := d.b.last[line]
	if last == nil {
		last = &[2]latest{}
		put(&d.b.last, line, last)
	}
	before := last[side]
	if d.place.seen[side].Before(before.seen) {
		return 0 // a stream's event that is compared behind a later one
	}
	if t.Before(before.moment) {
		return before.moment.Sub(t)
	}
	last[side] = latest{t, d.place.seen[side]}
	return 0
}
