package jsondiff

import (
	"math/big"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Tolerance is how far the candidate's number may be from the reference's: a decimal number, or a percentage of the
// reference's number. For durations, it is in nanoseconds. The zero Tolerance allows any distance.
type Tolerance struct {
	Amount  string
	Percent bool
}

// exceeded reports whether two numbers are too far apart.
func (t Tolerance) exceeded(ref, cand *big.Rat) bool {
	amount, ok := ident.Decimal(t.Amount)
	if !ok {
		return false // no tolerance is given; an invalid one was rejected when the rules were read
	}
	if t.Percent {
		amount.Mul(amount, new(big.Rat).Abs(ref))
		amount.Quo(amount, big.NewRat(100, 1))
	}
	apart := new(big.Rat).Sub(ref, cand)
	return apart.Abs(apart).Cmp(amount) > 0
}

// check returns how two values break a rule about numbers or durations.
func (v *Volatile) check(ref, cand string) diff.Reason {
	broken := func(code diff.Code, args ...any) diff.Reason { return diff.Because(diff.ValueDiffers, code, args...) }
	var numbers [2]*big.Rat
	for side, text := range [2]string{ref, cand} {
		n, ok := ident.Decimal(text)
		switch {
		case !ok && v.Kind == Number && jsontree.EqualNumbers(ref, cand):
			return diff.Reason{}
		case !ok && v.Kind == Number:
			return broken(diff.NoNumber, diff.Side(side))
		case !ok || v.Kind == Duration && n.Sign() < 0:
			return broken(diff.NoDuration, diff.Side(side), v.Unit)
		case v.Kind == Duration:
			n = v.Unit.Nanoseconds(n)
			if v.Max > 0 && n.Cmp(new(big.Rat).SetInt64(int64(v.Max))) > 0 {
				return broken(diff.DurationLong, diff.Side(side), v.Max)
			}
		}
		numbers[side] = n
	}
	if !v.Tolerance.exceeded(numbers[0], numbers[1]) {
		return diff.Reason{}
	}
	if v.Kind == Duration {
		return broken(diff.DurationsApart, v.tolerance())
	}
	return broken(diff.NumbersApart, v.tolerance())
}

// tolerance describes the tolerance in reports.
func (v *Volatile) tolerance() string {
	if v.Tolerance.Percent {
		return v.Tolerance.Amount + "%"
	}
	if ns, err := strconv.ParseInt(v.Tolerance.Amount, 10, 64); v.Kind == Duration && err == nil {
		return time.Duration(ns).String()
	}
	return v.Tolerance.Amount
}
