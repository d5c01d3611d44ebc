package agentsdk_test

import (
	"context"
	"fmt"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

type object = map[string]any

// adder is a tool that adds two numbers, after f.
func adder(f func()) agentsdk.SdkTool {
	return agentsdk.MustTool("add", "Add two numbers", func(_ context.Context, in addition, _ agentsdk.ToolContext) (agentsdk.ToolResult, error) {
		if f != nil {
			f()
		}
		return agentsdk.TextResult(fmt.Sprint(in.A + in.B)), nil
	})
}
