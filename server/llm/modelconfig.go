package llm

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
)

// ModelConfig says which model to call, and how (GA 4.8).
type ModelConfig = modelconfig.Config

// defaultContext is the context limit of unknown models, for calculations (GA 4.8).
const defaultContext = 128_000

// ContextOf returns the context limit of a model, in tokens.
func ContextOf(c ModelConfig) int64 {
	if c.ContextLimit != nil {
		return *c.ContextLimit
	}
	return defaultContext
}

// A Lookup returns an environment variable.
type Lookup func(name string) (value string, set bool)

// NewModelConfig returns the configuration of a model, with the values of the environment (GA 1.2). The text of its
// error is for clients (decision M3).
func NewModelConfig(model string, env Lookup) (ModelConfig, error) {
	return newModelConfig(model, env, modelVariables)
}

// NewLeadConfig returns the configuration of a lead, which may have a context limit of its own (decision M57).
func NewLeadConfig(model string, env Lookup) (ModelConfig, error) {
	const own = "GOOSE_LEAD_CONTEXT_LIMIT"
	variables := slices.Clone(modelVariables)
	if _, set := env(own); set {
		variables[0].name = own
	}
	return newModelConfig(model, env, variables)
}

func newModelConfig(model string, env Lookup, variables []modelVariable) (ModelConfig, error) {
	c := ModelConfig{ModelName: model, ContextLimit: limitOf(model)}
	for _, v := range variables {
		if value, set := env(v.name); set {
			if reason := v.take(&c, value); reason != "" {
				return ModelConfig{}, errors.New(strings.NewReplacer("<name>", "'"+v.name+"'", "<value>", value).Replace(reason))
			}
		}
	}
	return c, nil
}

// A modelVariable is an environment variable. GA 29.1 has the error texts for invalid values.
type modelVariable struct {
	name string
	take func(c *ModelConfig, value string) (wrong string)
}

// modelVariables are in the order in which they are read.
var modelVariables = []modelVariable{
	{"GOOSE_CONTEXT_LIMIT", takeContextLimit},
	{"GOOSE_TEMPERATURE", takeTemperature},
	{"GOOSE_TOOLSHIM", takeToolShim},
	{"GOOSE_TOOLSHIM_OLLAMA_MODEL", takeToolShimModel},
}

func takeContextLimit(c *ModelConfig, value string) (wrong string) {
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil || n < 0:
		return "Invalid value for <name>: '<value>' - must be a positive integer"
	case n < 4096:
		return "Value for <name> is out of valid range: must be greater than 4K"
	}
	c.ContextLimit = &n
	return ""
}

func takeTemperature(c *ModelConfig, value string) (wrong string) {
	f, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || math.IsNaN(f) || math.IsInf(f, 0):
		return "Invalid value for <name>: '<value>' - must be a valid number"
	case f < 0:
		return "Value for <name> is out of valid range: <value>"
	}
	c.Temperature = json.Number(strconv.FormatFloat(f, 'f', -1, 64))
	return ""
}

func takeToolShim(c *ModelConfig, value string) (wrong string) {
	switch strings.ToLower(value) {
	case "1", "true", "yes", "on":
		c.Toolshim = true
	case "0", "false", "no", "off":
		c.Toolshim = false
	default:
		return "Invalid value for <name>: '<value>' - must be one of: 1, true, yes, on, 0, false, no, off"
	}
	return ""
}

func takeToolShimModel(c *ModelConfig, value string) (wrong string) {
	if value == "" {
		return "Invalid value for <name>: '' - cannot be empty if set"
	}
	c.ToolshimModel = &value
	return ""
}
