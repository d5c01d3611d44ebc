// Package modelconfig defines the configuration of a model (GA 4.8), and the token counts that models report.
package modelconfig

import (
	"math"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Tokens are the counts of tokens that the model has read and written, in its last call and in all calls.
type Tokens struct{ Total, Input, Output, AccumulatedTotal, AccumulatedInput, AccumulatedOutput *int64 }

// MaxTokens is the largest token count, because the counts of a session have 32 bits. Sums stop at it (decision M54).
const MaxTokens = math.MaxInt32

// A Config says which model to call, and how (GA 4.8). An empty temperature is null.
type Config api.ModelConfig

// Decode reads a model configuration.
func Decode(v decode.Value) (Config, error) {
	o := v.Object("model_name", "context_limit", "temperature", "max_tokens", "toolshim", "toolshim_model", "fast_model")
	return Config{
		ModelName:     o.String("model_name"),
		ContextLimit:  decode.MaybeField(o, "context_limit", decode.Natural),
		Temperature:   decode.FieldOrZero(o, "temperature", decode.Value.Number),
		MaxTokens:     o.MaybeInt32("max_tokens"),
		Toolshim:      o.Bool("toolshim"),
		ToolshimModel: o.MaybeString("toolshim_model"),
		FastModel:     o.MaybeString("fast_model"),
	}, o.Err()
}

// Write writes the model configuration as JSON.
func (m Config) Write(w *jsonwire.Writer) { w.Value(api.ModelConfig(m)) }
