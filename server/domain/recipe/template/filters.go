package template

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/wire/lettercase"
)

// A filter converts a value. It has a fixed number of arguments. The caller has counted what the filter reads. If the
// result can be larger, the filter counts it before building it.
type filter struct {
	args  int
	apply func(w *Work, value any, args []any) (any, error)
}

// itemSize is what each item of a filter's list counts: about its size in memory.
const itemSize = 16

// filters are all filters. [filtered] implements default, because its value may be undefined.
var filters = map[string]filter{
	"default":    {1, nil},
	"upper":      {0, text(lettercase.Upper)},
	"lower":      {0, text(lettercase.Lower)},
	"trim":       {0, text(strings.TrimSpace)},
	"title":      {0, text(lettercase.Title)},
	"capitalize": {0, text(lettercase.Capitalize)},
	"length":     {0, length},
	"replace":    {2, replace},
	"split":      {1, split},
	"join":       {1, join},
}

func text(change func(string) string) func(*Work, any, []any) (any, error) {
	return func(_ *Work, value any, _ []any) (any, error) { return change(show(value)), nil }
}

func length(_ *Work, value any, _ []any) (any, error) {
	if list, ok := value.([]any); ok {
		return int64(len(list)), nil
	}
	return int64(utf8.RuneCountInString(show(value))), nil
}

func replace(w *Work, value any, args []any) (any, error) {
	s, old, with := show(value), show(args[0]), show(args[1])
	if err := w.make(len(s) + strings.Count(s, old)*len(with)); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s, old, with), nil
}

func split(w *Work, value any, args []any) (any, error) {
	s, separator := show(value), show(args[0])
	if err := w.look((strings.Count(s, separator) + 1) * itemSize); err != nil {
		return nil, err
	}
	parts := []any{}
	for part := range strings.SplitSeq(s, separator) {
		parts = append(parts, part)
	}
	return parts, nil
}

func join(w *Work, value any, args []any) (any, error) {
	items, ok := value.([]any)
	if !ok {
		return nil, errors.New("join: not a list")
	}
	separator := show(args[0])
	if err := w.make(size(value) + len(items)*len(separator)); err != nil {
		return nil, err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = show(item)
	}
	return strings.Join(texts, separator), nil
}
