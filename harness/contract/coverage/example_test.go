package coverage

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
)

func ExampleCoverage() {
	doc, problems := spec.Read("openapi.yaml", []byte(sample.Head+"paths: {/tools: {get: {responses: {'200': {description: ok}}}}}"))
	if len(problems) > 0 {
		fmt.Println(problems)
		return
	}
	coverage := New(doc)
	fmt.Println(coverage.Totals())
	// Output:
	// operations 0/1 · statuses 0/1 · events 0/0
}
