package jsontree

import "testing"

func TestTheLastWordIsItsBytes(t *testing.T) {
	const text = "\xff\x01\x80\x7f\xfe\x00\xaa"
	for n := range len(text) + 1 {
		var want uint64
		for i := range n {
			want |= uint64(text[i]) << (8 * i)
		}
		if got := lastWord(text[:n]); got != want {
			t.Errorf("lastWord(%q) = %#x, want %#x", text[:n], got, want)
		}
	}
}

func TestASumIsTheSameInEveryVersion(t *testing.T) {
	for text, want := range map[string]Sum{
		"": 0xb08954bfd2d738d9, "a": 0x88f5782d8518eb36, "lamp": 0x36dfca128fca5727, "a lamp, a chair": 0xd9d8bac9d9326e19,
	} {
		if got := SumText(String, text); got != want {
			t.Errorf("SumText(%q) = %#x, want %#x", text, got, want)
		}
	}
}
