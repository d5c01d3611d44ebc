package llm

import "strings"

// A Limit is the context limit of the models whose names contain a pattern, in tokens.
type Limit struct {
	Pattern string
	Tokens  int64
}

// Limits are the known limits. The first pattern in a name wins (GA 24.3).
var Limits = []Limit{
	{"gpt-5", 272000},
	{"gpt-4-turbo", 128000},
	{"gpt-4.1", 1000000},
	{"gpt-4-1", 1000000},
	{"gpt-4o", 128000},
	{"o4-mini", 200000},
	{"o3-mini", 200000},
	{"o3", 200000},
	{"claude", 200000},
	{"gemini-1.5-flash", 1000000},
	{"gemini-1", 128000},
	{"gemini-2", 1000000},
	{"gemma-3-27b", 128000},
	{"gemma-3-12b", 128000},
	{"gemma-3-4b", 128000},
	{"gemma-3-1b", 32000},
	{"gemma3-27b", 128000},
	{"gemma3-12b", 128000},
	{"gemma3-4b", 128000},
	{"gemma3-1b", 32000},
	{"gemma-2-27b", 8192},
	{"gemma-2-9b", 8192},
	{"gemma-2-2b", 8192},
	{"gemma2-", 8192},
	{"gemma-7b", 8192},
	{"gemma-2b", 8192},
	{"gemma1", 8192},
	{"gemma", 8192},
	{"llama-2-1b", 32000},
	{"llama", 128000},
	{"qwen3-coder", 262144},
	{"qwen2-7b", 128000},
	{"qwen2-14b", 128000},
	{"qwen2-32b", 131072},
	{"qwen2-70b", 262144},
	{"qwen2", 128000},
	{"qwen3-32b", 131072},
	{"grok-4", 256000},
	{"grok-code-fast-1", 256000},
	{"grok", 131072},
	{"kimi-k2", 131072},
}

// limitOf returns the limit of a model, or nil if it is unknown.
func limitOf(model string) *int64 {
	for _, limit := range Limits {
		if strings.Contains(model, limit.Pattern) {
			return &limit.Tokens
		}
	}
	return nil
}
