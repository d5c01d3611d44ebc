package transcript

import (
	"fmt"
	"strings"
)

// UnderWay says that steps were under way: "a was under way", "a, b and c were under way", with a count in the place of all
// but the first few. There must be at least one.
func UnderWay(names []string) string {
	const maxNames = 5
	if n := len(names); n > maxNames {
		return fmt.Sprintf("%s and %d more were under way", strings.Join(names[:maxNames], ", "), n-maxNames)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0] + " was under way"
	}
	return strings.Join(names[:last], ", ") + " and " + names[last] + " were under way"
}
