package report_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// big is a run of 10,000 scenarios with 500 findings. Half of the findings have the same cause.
func big() *report.Document {
	scenarios := make([]verdict.Scenario, 10_000)
	for n := range scenarios {
		id := fmt.Sprintf("area-%d/story-%d", n/100, n)
		switch {
		case n%40 == 0:
			scenarios[n] = scenario(id, step(3, "1", "GET /", difference("header-missing", "header Vary", "the candidate lacks the header field", `"Origin"`, "—")))
		case n%40 == 1:
			scenarios[n] = scenario(id, step(3, "1", "GET /", difference("value", "body /id", "the values differ", fmt.Sprintf("%q", id), `"c-1"`)))
		default:
			scenarios[n] = scenario(id)
		}
	}
	return document(scenarios...)
}

func BenchmarkTenThousandScenarios(b *testing.B) {
	doc := big()
	for _, format := range formats {
		b.Run(format.file, func(b *testing.B) {
			for b.Loop() {
				if err := format.write(io.Discard, doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
