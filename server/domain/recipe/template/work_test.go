package template_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/recipe/template"
)

// letters returns an expression for a text with the given power of ten of letters.
func letters(tens int) string {
	return "'a'" + strings.Repeat("|replace('a', 'aaaaaaaaaa')", tens)
}

// bombs are short templates that are very expensive.
var bombs = map[string]string{
	"empty loops":       "{% set l = " + letters(3) + "|split('') %}" + strings.Repeat("{% for x in l %}", 4) + strings.Repeat("{% endfor %}", 4),
	"loop in a loop":    "{% set l = " + letters(3) + "|split('') %}{% for x in l %}{% for y in l %}{% endfor %}{% endfor %}",
	"sums":              "{{ 1" + strings.Repeat("~1", 150_000) + " }}",
	"filters":           "{{ 1" + strings.Repeat("|upper", 150_000) + " }}",
	"alternatives":      "{{ 0" + strings.Repeat(" or 0", 150_000) + " }}",
	"comparisons":       "{{ 0" + strings.Repeat(" == 0", 150_000) + " }}",
	"negations":         "{{ " + strings.Repeat("not ", 150_000) + "0 }}",
	"items":             "{{ [0" + strings.Repeat(", 0", 150_000) + "] }}",
	"expressions":       strings.Repeat("{{1}}", 150_000),
	"comments":          strings.Repeat("{##}", 300_000),
	"parentheses":       "{{ " + strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500) + " }}",
	"conditions":        "{{ " + strings.Repeat("1 if 0 else ", 500) + "1 }}",
	"tags":              strings.Repeat("{% if 1 %}", 500) + strings.Repeat("{% endif %}", 500),
	"letters":           "{{ " + letters(6) + "|split('')|length }}",
	"texts of a filter": "{% for i in " + letters(4) + "|split('') %}{% set x = " + letters(5) + "|upper|lower %}{% endfor %}",
	"large results":     "{% for i in " + letters(4) + "|split('') %}{% set x = " + letters(3) + "|replace('a', " + letters(3) + ") %}{% endfor %}",
	"growing text":      "{% set a = 'aaaaaaaaaa' %}" + strings.Repeat("{% set a = a ~ a %}", 40),
	"lists in a loop":   "{% for i in " + letters(4) + "|split('') %}{% if [" + strings.Repeat("0, ", 5000) + "0] %}{% endif %}{% endfor %}",
	"outer names":       "{% set v = 1 %}" + strings.Repeat("{% if 1 %}{% for i in [1] %}", 50) + "{% for i in " + letters(4) + "|split('') %}{% if [" + strings.Repeat("v, ", 100) + "v] %}{% endif %}{% endfor %}" + strings.Repeat("{% endfor %}{% endif %}", 50),
	"includes":          strings.Repeat("{% include 'hello.txt' %}", 101),
}

// These bounds are a little above those of the package, because the step that exceeds a bound is counted too.
const (
	mostPieces = 2 * 100_000
	mostLooks  = 3 * 10_000_000
)

func TestWorkIsBounded(t *testing.T) {
	for name, text := range bombs {
		work := template.NewWork(context.Background())
		work.Spend(9_000_000) // the bombs need more than what is left
		got, err := renderWith(work, text)
		if err == nil {
			t.Errorf("%s: %d bytes, want an error", name, len(got))
		}
		if pieces, looks := work.Counted(); pieces > mostPieces || looks > mostLooks {
			t.Errorf("%s: %d pieces, %d looks", name, pieces, looks)
		}
	}
}

// TestWorkIsShared checks that the texts of a recipe share one limit.
func TestWorkIsShared(t *testing.T) {
	work := template.NewWork(context.Background())
	text := "{% for x in " + letters(4) + "|split('') %}{% endfor %}"
	for i := range 11 {
		if _, err := renderWith(work, text); (err != nil) != (i >= 9) {
			t.Errorf("text %d: %v", i, err)
		}
	}
}

func TestWorkEndsWithItsContext(t *testing.T) {
	gone := errors.New("the client has gone")
	for name, text := range map[string]string{
		"loop":   "{% for x in " + letters(4) + "|split('') %}{% endfor %}",
		"looks":  "{% set x = " + letters(5) + "|upper %}",
		"result": strings.Repeat("{{ "+letters(3)+" }}", 20),
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(gone)
		work := template.NewWork(ctx)
		if _, err := renderWith(work, text); !errors.Is(err, gone) {
			t.Errorf("%s: %v, want %v", name, err, gone)
		}
	}
}

// TestWorkGrowsWithTheText checks that a text twice as long costs twice as much.
func TestWorkGrowsWithTheText(t *testing.T) {
	for name, text := range growing {
		const n = 4000
		cost := func(n int) int {
			work := template.NewWork(context.Background())
			if _, err := renderWith(work, text(n)); err != nil {
				t.Fatalf("%s of %d: %v", name, n, err)
			}
			pieces, looks := work.Counted()
			return pieces + looks
		}
		if short, long := cost(n), cost(2*n); long > 2*short+100 {
			t.Errorf("%s: %d became %d", name, short, long)
		}
	}
}

// growing has functions that return texts of a given size, which is at most about 10,000.
var growing = map[string]func(n int) string{
	"sums":         func(n int) string { return "{{ 1" + strings.Repeat("~1", n) + " }}" },
	"filters":      func(n int) string { return "{{ 1" + strings.Repeat("|upper", n) + " }}" },
	"alternatives": func(n int) string { return "{{ 0" + strings.Repeat(" or 0", n) + " }}" },
	"comparisons":  func(n int) string { return "{{ 0" + strings.Repeat(" == 0", n) + " }}" },
	"items":        func(n int) string { return "{{ [0" + strings.Repeat(", 0", n) + "]|length }}" },
	"letters":      func(n int) string { return "{{ '" + strings.Repeat("a", 10*n) + "'|split('')|length }}" },
	"turns":        func(n int) string { return "{% for x in '" + strings.Repeat("a", n) + "'|split('') %}{% endfor %}" },
	"sets":         func(n int) string { return strings.Repeat("{% set a = 1 %}", n) },
}

func BenchmarkRender(b *testing.B) {
	for name, text := range growing {
		for _, n := range []int{4000, 8000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				text := text(n)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := renderWith(template.NewWork(context.Background()), text); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
