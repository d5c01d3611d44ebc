package jsontree

import "testing"

func TestPlainTextsHaveNeitherDigitsNorDashesNorSlashes(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "[::1]": true, "12345": true, "a lamp and a chair": true, "content_type": true,
		"[::1]:1": false, "/tmp/a": false, "abcdefab-abcd-abcd-abcd-abcdefabcdef": false, "lamp no. 7": false,
	} {
		if got := Plain(text); got != want {
			t.Errorf("Plain(%q) = %t, want %t", text, got, want)
		}
	}
}
