package mutate

import (
	"strconv"
	"time"
)

// A notation is a way to write a time.
type notation byte

const (
	seconds notation = iota
	millis
	micros
	nanos
	rfc3339
)

// counts are the notations that count since 1970, by the number of digits that they have in these years.
var counts = map[int]struct {
	how  notation
	read func(int64) time.Time
}{
	10: {seconds, func(n int64) time.Time { return time.Unix(n, 0) }},
	13: {millis, time.UnixMilli},
	16: {micros, time.UnixMicro},
	19: {nanos, func(n int64) time.Time { return time.Unix(0, n) }},
}

// parseTime reads a text as a time within a day of the moment at which it was seen.
func parseTime(s string, seen time.Time) (time.Time, notation, bool) {
	var t time.Time
	var how notation
	n, err := strconv.ParseInt(s, 10, 64)
	count, counted := counts[len(s)]
	switch {
	case err == nil && counted:
		t, how = count.read(n), count.how
	case len(s) >= 20 && len(s) <= 35 && s[4] == '-' && s[10] == 'T':
		parsed, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return t, 0, false
		}
		t, how = parsed, rfc3339
	default:
		return t, 0, false
	}
	return t, how, t.Sub(seen).Abs() < 24*time.Hour
}

func (how notation) write(t time.Time) string {
	switch how {
	case seconds:
		return strconv.FormatInt(t.Unix(), 10)
	case millis:
		return strconv.FormatInt(t.UnixMilli(), 10)
	case micros:
		return strconv.FormatInt(t.UnixMicro(), 10)
	case nanos:
		return strconv.FormatInt(t.UnixNano(), 10)
	default:
		return t.Format(time.RFC3339Nano)
	}
}

// endOfMillis returns where a time of the run in milliseconds ends in a text; 0 when there is none.
func endOfMillis(text string, seen time.Time) int {
	const length = 13
	run := 0
	for i := range len(text) + 1 {
		if i < len(text) && text[i] >= '0' && text[i] <= '9' {
			run++
			continue
		}
		if run == length {
			if _, _, ok := parseTime(text[i-run:i], seen); ok {
				return i
			}
		}
		run = 0
	}
	return 0
}
