package telemetry

import (
	"context"
	"regexp"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// A Tool is a call of a tool by the model (decision T17).
type Tool struct {
	span   trace.Span
	marked atomic.Bool // the MCP server has marked its result as an error
}

type toolKey struct{}

// Tool begins the span of a call. It is a child of the agent, whatever span ctx has.
func (t *Telemetry) Tool(ctx context.Context, name, id string) (context.Context, *Tool) {
	if t == nil || t.tracer == nil {
		return ctx, nil
	}
	tool := &Tool{}
	ctx, tool.span = t.tracer.Start(ctx, valid("execute_tool "+name), trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"),
		text("gen_ai.tool.name", name),
		text("gen_ai.tool.call.id", id),
	))
	return context.WithValue(ctx, toolKey{}, tool), tool
}

// MarkToolError records that the MCP server has marked the result of the call of a context as an error.
func MarkToolError(ctx context.Context) {
	if tool, ok := ctx.Value(toolKey{}).(*Tool); ok {
		tool.marked.Store(true)
	}
}

// End ends the span. failure is the text of the error, or nil. Only the code at its beginning is exported. The call was given
// up if ctx, that of the reply, has ended.
func (t *Tool) End(ctx context.Context, failure *string) {
	if t == nil {
		return
	}
	errorType := ""
	switch {
	case ctx.Err() != nil:
		errorType = Cancelled
	case failure != nil:
		errorType = codeOf(*failure)
	case t.marked.Load():
		errorType = toolError
	}
	endSpan(t.span, errorType)
}

var code = regexp.MustCompile(`^(-?[0-9]{1,19}): `)

func codeOf(failure string) string {
	if found := code.FindStringSubmatch(failure); found != nil {
		return found[1]
	}
	return Other
}
