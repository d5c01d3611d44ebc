package bench

import (
	"fmt"
	"testing"
)

func BenchmarkZZ(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10, 10 << 20} {
		for _, c := range []struct {
			name      string
			ref, cand document
		}{
			{"five", document{}, document{edited: true}},
			{"equal", document{}, document{}},
			{"reordered", document{}, document{reordered: true}},
			{"ids", document{ids: true}, document{ids: true, edited: true}},
		} {
			c.ref.size, c.cand.size = size, size
			ref, cand := c.ref.bytes(), c.cand.bytes()
			for _, w := range ways[:2] {
				b.Run(fmt.Sprintf("s%dK/%s/%s", size>>10, c.name, w.name), func(b *testing.B) {
					b.SetBytes(int64(len(ref) + len(cand)))
					b.ReportAllocs()
					for b.Loop() {
						w.compare(ref, cand)
					}
				})
			}
		}
	}
}
