package llm

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// A ModelConfig says which model is asked, and how (GA 4.8).
type ModelConfig struct {
	ModelName     string
	ContextLimit  *int64 // in tokens; see [ModelConfig.Context]
	Temperature   *float64
	MaxTokens     *int64
	ToolShim      bool
	ToolShimModel *string
	FastModel     *string
}

// defaultContext is taken for calculations when nothing is known of a model (GA 4.8).
const defaultContext = 128_000

// Context returns how many tokens the model takes.
func (c ModelConfig) Context() int64 {
	if c.ContextLimit != nil {
		return *c.ContextLimit
	}
	return defaultContext
}

// A Lookup finds a variable of the environment.
type Lookup func(name string) (value string, set bool)

// NewModelConfig returns the configuration of a model with what the environment says (GA 1.2). The text of its error is
// shown to clients (decision M3).
func NewModelConfig(model string, env Lookup) (ModelConfig, error) {
	c := ModelConfig{ModelName: model, ContextLimit: limitOf(model)}
	for _, v := range []struct {
		name, what string
		take       func(value string) error
	}{
		{"GOOSE_CONTEXT_LIMIT", "an integer, at least 4096", c.takeContextLimit},
		{"GOOSE_TEMPERATURE", "a number, at least 0", c.takeTemperature},
		{"GOOSE_TOOLSHIM", "1, true, yes, on, 0, false, no or off", c.takeToolShim},
		{"GOOSE_TOOLSHIM_OLLAMA_MODEL", "the name of a model", c.takeToolShimModel},
	} {
		value, set := env(v.name)
		if set && v.take(value) != nil {
			return ModelConfig{}, fmt.Errorf("%s is %s; it must be %s", v.name, jsonwire.AppendQuoted(nil, value), v.what)
		}
	}
	return c, nil
}

var errValue = errors.New("not a value of this variable")

func (c *ModelConfig) takeContextLimit(value string) error {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 4096 {
		return errValue
	}
	c.ContextLimit = &n
	return nil
}

func (c *ModelConfig) takeTemperature(value string) error {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
		return errValue
	}
	c.Temperature = &f
	return nil
}

func (c *ModelConfig) takeToolShim(value string) error {
	switch strings.ToLower(value) {
	case "1", "true", "yes", "on":
		c.ToolShim = true
	case "0", "false", "no", "off":
		c.ToolShim = false
	default:
		return errValue
	}
	return nil
}

func (c *ModelConfig) takeToolShimModel(value string) error {
	if strings.TrimSpace(value) == "" {
		return errValue
	}
	c.ToolShimModel = &value
	return nil
}

// Write writes the configuration as JSON.
func (c ModelConfig) Write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("model_name")
	w.String(c.ModelName)
	w.Name("context_limit")
	w.IntOrNull(c.ContextLimit)
	w.Name("temperature")
	if c.Temperature == nil {
		w.Null()
	} else {
		w.Raw(strconv.AppendFloat(nil, *c.Temperature, 'f', -1, 64))
	}
	w.Name("max_tokens")
	w.IntOrNull(c.MaxTokens)
	w.Name("toolshim")
	w.Bool(c.ToolShim)
	w.Name("toolshim_model")
	w.StringOrNull(c.ToolShimModel)
	w.Name("fast_model")
	w.StringOrNull(c.FastModel)
	w.Close('}')
}

// DecodeModelConfig reads a configuration. The error is a [*decode.ShapeError].
func DecodeModelConfig(v decode.Value) (ModelConfig, error) {
	o := v.Object("model_name", "context_limit", "temperature", "max_tokens", "toolshim", "toolshim_model", "fast_model")
	c := ModelConfig{
		ModelName:     o.String("model_name"),
		ContextLimit:  o.MaybeInt("context_limit"),
		MaxTokens:     o.MaybeInt("max_tokens"),
		ToolShimModel: o.MaybeString("toolshim_model"),
		FastModel:     o.MaybeString("fast_model"),
	}
	if shim := o.MaybeBool("toolshim"); shim != nil {
		c.ToolShim = *shim
	}
	if number := decode.MaybeField(o, "temperature", decode.Value.Number); number != nil {
		f, err := number.Float64()
		o.Check(err)
		c.Temperature = &f
	}
	return c, o.Err()
}

// MarshalJSON returns the JSON of the configuration.
func (c ModelConfig) MarshalJSON() ([]byte, error) {
	w := jsonwire.NewWriter(nil)
	c.Write(w)
	return w.Text(), nil
}

// UnmarshalJSON reads a configuration.
func (c *ModelConfig) UnmarshalJSON(text []byte) error {
	v, err := decode.Parse(text)
	if err != nil {
		return err
	}
	*c, err = DecodeModelConfig(v)
	return err
}
