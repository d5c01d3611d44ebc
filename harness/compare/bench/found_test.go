package bench

import "testing"

func TestFiveDifferencesAreFound(t *testing.T) {
	for _, size := range []int{1 << 10, 100 << 10, 10 << 20} {
		for _, ids := range []bool{false, true} {
			ref, cand := document{size: size, ids: ids}.bytes(), document{size: size, ids: ids, edited: true}.bytes()
			if got, _ := lockstep(ref, cand); got != 5 {
				t.Errorf("%d bytes, ids %t: %d differences, want 5", size, ids, got)
			}
			if got, _ := lockstep(ref, document{size: size, ids: ids, reordered: true}.bytes()); got != 0 {
				t.Errorf("%d bytes, ids %t, reordered: %d differences, want none", size, ids, got)
			}
		}
	}
}
