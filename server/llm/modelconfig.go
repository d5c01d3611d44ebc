package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/session"
)

// ModelConfig says which model is asked, and how (GA 4.8).
type ModelConfig = session.ModelConfig

// defaultContext is taken for calculations when nothing is known of a model (GA 4.8).
const defaultContext = 128_000

// ContextOf returns how many tokens a model takes.
func ContextOf(c ModelConfig) int64 {
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
	for _, v := range modelVariables {
		value, set := env(v.name)
		if set && v.take(&c, value) != nil {
			return ModelConfig{}, fmt.Errorf("%s is %s; it must be %s", v.name, jsonwire.AppendQuoted(nil, value), v.what)
		}
	}
	return c, nil
}

// modelVariables are the variables of the environment, in the order in which they are looked at.
var modelVariables = []struct {
	name, what string
	take       func(c *ModelConfig, value string) error
}{
	{"GOOSE_CONTEXT_LIMIT", "an integer, at least 4096", takeContextLimit},
	{"GOOSE_TEMPERATURE", "a number, at least 0", takeTemperature},
	{"GOOSE_TOOLSHIM", "1, true, yes, on, 0, false, no or off", takeToolShim},
	{"GOOSE_TOOLSHIM_OLLAMA_MODEL", "the name of a model", takeToolShimModel},
}

var errValue = errors.New("not a value of this variable")

func takeContextLimit(c *ModelConfig, value string) error {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 4096 {
		return errValue
	}
	c.ContextLimit = &n
	return nil
}

func takeTemperature(c *ModelConfig, value string) error {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
		return errValue
	}
	c.Temperature = json.Number(strconv.FormatFloat(f, 'f', -1, 64))
	return nil
}

func takeToolShim(c *ModelConfig, value string) error {
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

func takeToolShimModel(c *ModelConfig, value string) error {
	if strings.TrimSpace(value) == "" {
		return errValue
	}
	c.ToolShimModel = &value
	return nil
}
