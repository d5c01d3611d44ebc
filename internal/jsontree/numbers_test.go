package jsontree

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestNumbersAreComparedInThreeWays(t *testing.T) {
	for _, tc := range []struct {
		a, b             string
		notation, double bool
	}{
		{"4096", "4096.0", false, true},
		{"0", "0e0", false, true},
		{"0", "0.0", false, true},
		{"1000", "1e3", false, true},
		{"1e3", "1000.0", true, true},
		{"1.0", "1.00", true, true},
		{"1E+2", "100.0", true, true},
		{"0.1", "0.10000000000000001", true, true},
		{"0.1", "0.1000000000000001", false, false},
		{"0.001", "1e-3", true, true},
		{"-0", "0", true, true},
		{"-0.0", "0.0", true, true},
		{"-0.0", "0", false, true},
		{"0e99", "0.0", true, true},
		{"1", "-1", false, false},
		{"1.5", "-1.5", false, false},
		{"9007199254740992", "9007199254740993", false, true},
		{"18446744073709551616", "18446744073709551617", false, true},
		{"18446744073709551616", "18446744073709551616.0", false, true},
		{"9007199254740993.0", "9007199254740992.0", true, true},
		{"1e400", "1e401", false, false},
		{"1e400", "10e399", false, false},
		{"1e-400", "0.0", false, false},
		{"1e-400", "2e-400", false, false},
		{"5e-324", "4e-324", true, true},
		{"1e23", "100000000000000000000000.0", true, true},
	} {
		for _, ab := range [...][2]string{{tc.a, tc.b}, {tc.b, tc.a}} {
			for how, want := range map[Numbers]bool{Notation: tc.notation, Double: tc.double, Exact: false} {
				if got := how.Equal(ab[0], ab[1]); got != want {
					t.Errorf("Numbers(%d).Equal(%s, %s) = %t", how, ab[0], ab[1], got)
				}
				if a, b := how.Plain(ab[0]), how.Plain(ab[1]); (a == b) != want {
					t.Errorf("Numbers(%d).Plain(%s) = %s, Plain(%s) = %s", how, ab[0], a, ab[1], b)
				}
			}
			if !Exact.Equal(ab[0], ab[0]) || !Notation.Equal(ab[0], ab[0]) || !Double.Equal(ab[0], ab[0]) {
				t.Errorf("%s does not equal itself", ab[0])
			}
		}
	}
}

// TestTwoNumbersShareASpellingWhenTheirDoublesAreEqual checks the two ways to make a spelling against each other. One
// computes with doubles, the other does not.
func TestTwoNumbersShareASpellingWhenTheirDoublesAreEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	spell := func(digits string, exponent int) string {
		switch r.IntN(3) {
		case 0:
			return digits[:1] + "." + digits[1:] + "e" + strconv.Itoa(exponent+len(digits)-1)
		case 1:
			return digits + ".0e" + strconv.Itoa(exponent)
		default:
			if exponent < 0 && -exponent < len(digits) {
				return digits[:len(digits)+exponent] + "." + digits[len(digits)+exponent:]
			}
			return digits + "E" + strconv.Itoa(exponent)
		}
	}
	for range 20_000 {
		digits := fmt.Sprint(1 + r.Uint64N(1<<(1+r.UintN(63))))
		exponent := r.IntN(40) - 25
		other := []byte(digits)
		if r.IntN(2) == 0 {
			other[len(other)-1] = '0' + byte(r.IntN(10))
		}
		a, b := spell(digits, exponent), spell(string(other), exponent)
		if strings.HasPrefix(a, "0") || strings.HasPrefix(b, "0") {
			continue
		}
		fa, _ := strconv.ParseFloat(a, 64)
		fb, _ := strconv.ParseFloat(b, 64)
		if got := Notation.Plain(a) == Notation.Plain(b); got != (fa == fb) {
			t.Errorf("Plain(%s) = %s, Plain(%s) = %s", a, Notation.Plain(a), b, Notation.Plain(b))
		}
	}
}

func TestAHugeNumberCostsLittle(t *testing.T) {
	huge := "1e" + strings.Repeat("9", 5_000_000)
	if !Double.Equal(huge, huge) || Double.Equal(huge, "10e"+strings.Repeat("9", 5_000_000)) {
		t.Error("a number that no double can hold equals its own text alone")
	}
}
