package transcript

import (
	"fmt"
	"strings"
)

// UnderWay says that some things were under way: "a was under way", "a, b and c were under way". Beyond a handful they
// are counted. There must be at least one.
func UnderWay(names []string) string {
	const most = 5
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %d more were under way", strings.Join(names[:most], ", "), n-most)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0] + " was under way"
	}
	return strings.Join(names[:last], ", ") + " and " + names[last] + " were under way"
}
