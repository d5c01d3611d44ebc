package transcript

import (
	"fmt"
	"strings"
)

// UnderWay says that steps were running: "a was under way", "a, b and c were under way". After the first few it gives
// only a count. There must be at least one.
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
