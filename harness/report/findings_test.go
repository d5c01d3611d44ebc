package report

import (
	"strings"
	"testing"
)

func TestExcerptsOfBothSidesBeginNearTheirDifference(t *testing.T) {
	a, b := WithoutCommonPrefix(strings.Repeat("x", 1000)+"left", strings.Repeat("x", 1000)+"right")
	if a != "…"+strings.Repeat("x", 40)+"left" || b != "…"+strings.Repeat("x", 40)+"right" {
		t.Errorf("facing: %q, %q", a, b)
	}
	if a, b := WithoutCommonPrefix("left", "right"); a != "left" || b != "right" {
		t.Errorf("facing: %q, %q", a, b)
	}
}
