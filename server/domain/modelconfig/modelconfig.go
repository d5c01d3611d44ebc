// Package modelconfig has the configuration of a model (GA 4.8), and the token counts that models report.
package modelconfig

import (
	"encoding/json"
	"math"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Tokens are the counts of tokens that the model has read and written, in its last call and in all calls.
type Tokens struct{ Total, Input, Output, AccumulatedTotal, AccumulatedInput, AccumulatedOutput *int64 }

// MaxTokens is the largest token count, because the counts of a session have 32 bits. Sums stop at it (decision M54).
const MaxTokens = math.MaxInt32

// A Config says which model to call, and how (GA 4.8).
type Config struct {
	ModelName     string
	ContextLimit  *int64
	Temperature   json.Number // empty is null
	MaxTokens     *int64
	ToolShim      bool
	ToolShimModel *string
	FastModel     *string
}

// Decode reads a model configuration.
func Decode(v decode.Value) (Config, error) {
	o := v.Object("model_name", "context_limit", "temperature", "max_tokens", "toolshim", "toolshim_model", "fast_model")
	m := Config{ModelName: o.String("model_name"), ContextLimit: decode.MaybeField(o, "context_limit", decode.Natural)}
	if temperature := decode.MaybeField(o, "temperature", decode.Value.Number); temperature != nil {
		m.Temperature = *temperature
	}
	m.MaxTokens = o.MaybeInt32("max_tokens")
	m.ToolShim = o.Bool("toolshim")
	m.ToolShimModel = o.MaybeString("toolshim_model")
	m.FastModel = o.MaybeString("fast_model")
	return m, o.Err()
}

// Write writes the model configuration as JSON.
func (m Config) Write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("model_name").String(m.ModelName)
	w.Name("context_limit").IntOrNull(m.ContextLimit)
	w.Name("temperature")
	if m.Temperature == "" {
		w.Null()
	} else {
		w.Raw([]byte(m.Temperature))
	}
	w.Name("max_tokens").IntOrNull(m.MaxTokens)
	w.Name("toolshim").Bool(m.ToolShim)
	w.Name("toolshim_model").StringOrNull(m.ToolShimModel)
	w.Name("fast_model").StringOrNull(m.FastModel)
	w.Close('}')
}
