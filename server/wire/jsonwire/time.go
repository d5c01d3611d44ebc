package jsonwire

import "time"

// Time formats a time as GA 2.8 requires: in UTC with a final Z, and with the fewest of 0, 3, 6 or 9 fraction digits
// that preserve it (decision G3).
func Time(t time.Time) string {
	layout := "2006-01-02T15:04:05.000000000Z"
	switch ns := t.Nanosecond(); {
	case ns == 0:
		layout = "2006-01-02T15:04:05Z"
	case ns%1_000_000 == 0:
		layout = "2006-01-02T15:04:05.000Z"
	case ns%1_000 == 0:
		layout = "2006-01-02T15:04:05.000000Z"
	}
	return t.UTC().Format(layout)
}
