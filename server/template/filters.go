package template

import (
	"errors"
	"strings"
	"unicode"
)

// A filter makes a value of another one. It has a fixed number of arguments.
type filter struct {
	args  int
	apply func(value any, args []any) (any, error)
}

// filters are all that there are. The filter default is known to [filtered], because it takes what is not defined.
var filters = map[string]filter{
	"default": {1, nil},
	"upper":   {0, text(strings.ToUpper)},
	"lower":   {0, text(strings.ToLower)},
	"trim":    {0, text(strings.TrimSpace)},
	"title":   {0, text(title)},
	"capitalize": {0, text(func(s string) string {
		runes := []rune(strings.ToLower(s))
		if len(runes) > 0 {
			runes[0] = unicode.ToUpper(runes[0])
		}
		return string(runes)
	})},
	"length": {0, func(value any, _ []any) (any, error) {
		if list, ok := value.([]any); ok {
			return int64(len(list)), nil
		}
		return int64(len([]rune(show(value)))), nil
	}},
	"replace": {2, func(value any, args []any) (any, error) {
		old, with := show(args[0]), show(args[1])
		if s := show(value); len(s)+strings.Count(s, old)*len(with) <= maxBytes {
			return strings.ReplaceAll(s, old, with), nil
		}
		return nil, errors.New("the text becomes too large")
	}},
	"split": {1, func(value any, args []any) (any, error) {
		parts := []any{}
		for part := range strings.SplitSeq(show(value), show(args[0])) {
			parts = append(parts, part)
		}
		return parts, nil
	}},
	"join": {1, func(value any, args []any) (any, error) {
		items, ok := value.([]any)
		if !ok {
			return nil, errors.New("join: not a list")
		}
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = show(item)
		}
		separator := show(args[0])
		if len(texts)*len(separator) > maxBytes {
			return nil, errors.New("the text becomes too large")
		}
		return bounded(strings.Join(texts, separator))
	}},
}

func text(change func(string) string) func(any, []any) (any, error) {
	return func(value any, _ []any) (any, error) { return change(show(value)), nil }
}

// title writes the first letter of each word large, and the others small.
func title(s string) string {
	inWord := false
	return strings.Map(func(r rune) rune {
		wasInWord := inWord
		inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
		if inWord && !wasInWord {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, s)
}
